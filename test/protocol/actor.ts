// One process of the model: at which step of its program it is, and what it knows.

import type { Ending, Start } from "./programs.ts";
import { Memory, type Program, type Step } from "./step.ts";

export interface Actor {
  readonly name: string;
  readonly program: (start: Start) => Program<Ending>;
  /** How often it is started: a crash is followed by the next start. 0: it never crashes. */
  readonly starts: number;
}

export interface ActorState {
  readonly start: number;
  /** The results of all steps so far, or of others that lead to the same step with the same memory. */
  readonly results: readonly unknown[];
  /** Undefined once it has ended. */
  readonly step: Step | undefined;
  /** The memory as text. With the step it tells all that matters of the past. */
  readonly memory: string;
  readonly ending: Ending | "CRASHED" | null;
  /** Under which token it believes to hold the lease. */
  readonly holds: string | null;
}

export function begin(actor: Actor, start = 1): ActorState {
  return replayed(actor, start, [], null);
}

/** After its step has had this result. */
export function advance(
  actor: Actor,
  { start, results, step, holds }: ActorState,
  result: unknown,
): ActorState {
  const gained = step?.gains !== undefined && result === true ? step.gains : holds;
  const isLost = step?.confirmsLease === true && result === false;
  return replayed(actor, start, [...results, result], step?.frees || isLost ? null : gained);
}

/** A crash is followed by the next start, but for the last. */
export function crash(actor: Actor, { start }: ActorState): ActorState {
  return start < actor.starts ? begin(actor, start + 1) : ended(start, "CRASHED");
}

/** What tells two states of an actor apart. */
export function known({ start, step, memory, ending, holds }: ActorState): readonly unknown[] {
  return ending === null ? [start, step?.name, memory, holds] : [start, ending];
}

/** A program cannot be copied, so it is given again the results that it has had so far. */
function replayed(
  actor: Actor,
  start: number,
  results: readonly unknown[],
  holds: string | null,
): ActorState {
  const memory = new Memory();
  const program = actor.program({ process: actor.name, start, memory });
  let next = program.next();
  for (const result of results) next = program.next(result);
  if (next.done) return ended(start, next.value);
  return { start, results, step: next.value, memory: JSON.stringify(memory), ending: null, holds };
}

function ended(start: number, ending: Ending | "CRASHED"): ActorState {
  return { start, results: [], step: undefined, memory: "", ending, holds: null };
}
