// One atomic operation of a process on the shared world. Between two of them any other process may work, and each may
// be the last one of its process.

import type { Content, Entry, GlueTables, Head, Outcome, World } from "./world.ts";
import { headOf, put } from "./world.ts";

interface Effect<Result> {
  readonly world: World;
  readonly result: Result;
}

export interface Step<Result = unknown> {
  /** For the story of a violation. */
  readonly name: string;
  readonly apply: (world: World) => Effect<Result>;
  /** The result where the effect took place but its response was lost and the repeated write found the key taken. */
  readonly lost?: Result;
  /** The process may also get any of these results. */
  readonly choices?: readonly Result[];
  /** The token under which the process holds the lease once the result is true. */
  readonly gains?: string;
  readonly frees?: true;
  /** A false result says that the process has lost the lease. */
  readonly confirmsLease?: true;
  /** A process that knows that it has lost the lease must not do this. */
  readonly needsLease?: true;
  /** The run that this step sends a request for. */
  readonly requestsFor?: number;
}

/** A program as a sequence of steps. The results it has been given determine what it does next. */
export type Program<Result> = Generator<Step, Result, unknown>;

/**
 * What a process knows. Two processes at the same step with the same memory behave alike, whatever led them there, so
 * a program keeps here each value that it uses after a later step, and forgets it when it is done with it.
 */
export class Memory {
  readonly #values = new Map<string, unknown>();

  keep<Value>(name: string, value: Value): Value {
    this.#values.set(name, value);
    return value;
  }

  forget(...names: readonly string[]): void {
    for (const name of names) this.#values.delete(name);
  }

  forgetAll(): void {
    this.#values.clear();
  }

  toJSON(): unknown {
    return [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

export function* perform<Result>(step: Step<Result>): Program<Result> {
  // The explorer answers each step with a result that this very step has made.
  return (yield step) as Result;
}

export function look<Result>(name: string, at: (world: World) => Result): Program<Result> {
  return perform({ name, apply: (world) => ({ world, result: at(world) }) });
}

export const readHead = (): Program<Head | undefined> => look("reads the head", headOf);

/** The entries after a publication, with their numbers. */
export function readLog(after: number): Program<readonly Head[]> {
  return look(`reads the log after ${after}`, ({ log }) =>
    Object.entries(log)
      .map(([publication, entry]) => ({ ...entry, publication: Number(publication) }))
      .filter(({ publication }) => publication > after),
  );
}

type Table = "staged" | "snapshots" | "held" | "changes" | "log" | "outcomes";

/** Creates a file if there is none; its result says whether it did. */
export function create<Key extends Table>(
  table: Key,
  key: string | number,
  value: Content | Entry | Outcome | true | World["changes"][string],
  overwrites = false,
): Program<boolean> {
  const name = `creates ${table}/${key}`;
  const apply = (world: World): Effect<boolean> => {
    const files: Readonly<Record<string, unknown>> = world[table];
    if (files[key] !== undefined && !overwrites) return { world, result: false };
    return { world: { ...world, [table]: put(files, key, value) }, result: true };
  };
  return perform({ name, apply, lost: false });
}

export function changeGlue(name: string, change: (glue: GlueTables) => GlueTables): Program<boolean> {
  return perform({
    name: `Glue: ${name}`,
    apply: (world) => ({ world: { ...world, glue: change(world.glue) }, result: true }),
  });
}
