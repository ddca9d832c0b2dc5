// Visits every world that some processes can reach: every interleaving of their steps, a crash before and after each,
// lost responses, leases that expire while their holder is paused.

import { createHash } from "node:crypto";
import { brokenLaw } from "./laws.ts";
import type { Ending, Start } from "./programs.ts";
import { Memory, type Program, type Step } from "./step.ts";
import type { World } from "./world.ts";

interface State {
  readonly world: World;
  readonly actors: readonly ActorState[];
  /** Tokens of leases that expired while their holder was paused. */
  readonly expired: readonly string[];
}

interface Move {
  readonly state: State;
  readonly what: string;
  /** Why the process must not do this. */
  readonly wrong: string | undefined;
}

export interface Exploration {
  readonly states: number;
  /** Worlds in which every process has ended. */
  readonly ends: number;
  readonly violation?: { readonly law: string; readonly story: readonly string[] };
}

export interface ExploreOptions {
  readonly world: World;
  readonly actors: readonly Actor[];
  /** What is wrong with a world in which every process has ended. */
  readonly wrongEnd: (world: World, hasCrashed: boolean) => string | undefined;
}

/** Breadth first, so the story of a violation is one of the shortest. */
export function explore({ world, actors, wrongEnd }: ExploreOptions): Exploration {
  const first: State = { world, actors: actors.map((actor) => begin(actor)), expired: [] };
  const seen = new Set([digest(first)]);
  /** Of each state, in the order of `seen`. */
  const cameFrom: { readonly parent: number; readonly what: string }[] = [{ parent: 0, what: "" }];
  let ends = 0;
  let level: { readonly id: number; readonly state: State }[] = [{ id: 0, state: first }];
  const violation = (law: string, last: number, what?: string): Exploration => {
    const story = what === undefined ? [] : [what];
    for (let id = last; id > 0; id = cameFrom[id]?.parent ?? 0) story.unshift(cameFrom[id]?.what ?? "");
    return { states: seen.size, ends, violation: { law, story } };
  };
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { id, state } of level) {
      const moves = movesFrom(state, actors);
      if (moves.length === 0) {
        ends += 1;
        const hasCrashed = state.actors.some(({ start, ending }) => start > 1 || ending === "CRASHED");
        const law = wrongEnd(state.world, hasCrashed);
        if (law !== undefined) return violation(law, id);
      }
      for (const { state: reached, what, wrong } of moves) {
        const law =
          brokenLaw(state.world, reached.world, reached.expired.length > 0) ??
          brokenLease(reached) ??
          brokenFiles(reached) ??
          wrong;
        if (law !== undefined) return violation(law, id, what);
        const key = digest(reached);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push({ id: cameFrom.push({ parent: id, what }) - 1, state: reached });
      }
    }
    level = next;
  }
  return { states: seen.size, ends };
}

/** Two processes hold the lease at once only where one was paused. */
function brokenLease({ actors, expired }: State): string | undefined {
  const holders = actors.flatMap(({ holds }) => (holds !== null && !expired.includes(holds) ? [holds] : []));
  return holders.length > 1 ? `${holders.join(" and ")} both hold a lease that has not expired` : undefined;
}

/** Processes of one run take one another's work as it is, so none finds it to be damaged. */
function brokenFiles({ world, actors }: State): string | undefined {
  if (world.chain.isDamaged) return undefined;
  return actors.some(({ ending }) => ending === "CORRUPT") ? "a process takes a file for damaged" : undefined;
}

function movesFrom(state: State, actors: readonly Actor[]): readonly Move[] {
  return actors.flatMap((actor, index) => movesOf(state, actor, index));
}

function movesOf(state: State, actor: Actor, index: number): readonly Move[] {
  const current = state.actors[index];
  const step = current?.step;
  if (current === undefined || step === undefined) return [];
  const token = `${actor.name}.${current.start}`;
  const give = (world: World, result: unknown, what: string): Move => ({
    state: {
      world,
      actors: state.actors.with(index, advance(actor, current, result)),
      expired: expiredAfter(state, result),
    },
    what: `${token} ${what}`,
    wrong: wrongRequest(state, current) ?? wrongRecord(current),
  });
  const { world, result } = step.apply(state.world);
  const moves = [give(world, result, `${step.name}${result === false ? ": no" : ""}`)];
  if (result === true && step.lost !== undefined) {
    moves.push(
      give(world, step.lost, `${step.name}; the response is lost, and the repeated write finds it there`),
    );
  }
  for (const choice of step.choices ?? [])
    moves.push(give(state.world, choice, `finds it ${String(choice)}`));
  if (actor.starts === 0) return moves;
  const crashed = state.actors.with(index, crash(actor, current));
  moves.push({ state: { ...state, actors: crashed }, what: `${token} crashes`, wrong: undefined });
  return moves;
}

/** A run that is finished sends nothing, unless a process was paused for longer than its lease lasts. */
function wrongRequest({ world, expired }: State, { step }: ActorState): string | undefined {
  const run = step?.requestsFor;
  if (run === undefined || world.outcomes[run] === undefined || expired.length > 0) return undefined;
  return `a request is sent for run ${run}, which is finished`;
}

function wrongRecord({ step, holds }: ActorState): string | undefined {
  return step?.needsLease && holds === null ? "a record is made after the lease was lost" : undefined;
}

function expiredAfter({ expired, actors }: State, result: unknown): readonly string[] {
  const prefix = "expired ";
  if (typeof result !== "string" || !result.startsWith(prefix)) return expired;
  const token = result.slice(prefix.length);
  const isPaused = actors.some(({ holds }) => holds === token);
  return isPaused ? [...new Set([...expired, token])].sort() : expired;
}

function digest({ world, actors, expired }: State): string {
  return createHash("sha1")
    .update(JSON.stringify([world, actors.map(known), expired]))
    .digest("base64");
}

/** One process of the model: at which step of its program it is, and what it knows. */
export interface Actor {
  readonly name: string;
  readonly program: (start: Start) => Program<Ending>;
  /** How often it is started: a crash is followed by the next start. 0: it never crashes. */
  readonly starts: number;
}

interface ActorState {
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

function begin(actor: Actor, start = 1): ActorState {
  return replayed(actor, start, [], null);
}

/** After its step has had this result. */
function advance(actor: Actor, { start, results, step, holds }: ActorState, result: unknown): ActorState {
  const gained = step?.gains !== undefined && result === true ? step.gains : holds;
  const isLost = step?.confirmsLease === true && result === false;
  return replayed(actor, start, [...results, result], step?.frees || isLost ? null : gained);
}

/** A crash is followed by the next start, but for the last. */
function crash(actor: Actor, { start }: ActorState): ActorState {
  return start < actor.starts ? begin(actor, start + 1) : ended(start, "CRASHED");
}

/** What tells two states of an actor apart. */
function known({ start, step, memory, ending, holds }: ActorState): readonly unknown[] {
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
