// One atomic operation of a process on the shared world. Between two of them any other process may work, and each may
// be the last one of its process.

import type { Defect } from "./defects.ts";
import {
  type Content,
  type Entry,
  endOf,
  entriesOf,
  type GlueTables,
  type Head,
  type LogEnd,
  type Outcome,
  put,
  removalOf,
  type World,
} from "./world.ts";

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

type Has = (defect: Defect) => boolean;

export function readEnd(has: Has): Program<LogEnd> {
  return look("reads the log's end", (world) => {
    const end = endOf(world);
    const isBlind = has("log not cut at a removal");
    return isBlind ? { ...end, head: end.head ?? end.removal, removal: undefined } : end;
  });
}

/** What the log has gained after an entry. */
export interface LogSince {
  readonly last: number;
  /** The newest one. Only what lies above it counts. */
  readonly removal: Head | undefined;
  readonly publications: readonly Head[];
}

export function readLogSince(after: number, has: Has): Program<LogSince> {
  return look(`reads the log after ${after}`, (world) => {
    const { last } = endOf(world);
    const newest = has("log not cut at a removal") ? undefined : removalOf(world);
    const removal = newest && newest.publication > after ? newest : undefined;
    const from = removal?.publication ?? after;
    return { last, removal, publications: entriesOf(world).filter(({ publication }) => publication > from) };
  });
}

const FILE_KINDS = ["staged", "snapshots", "held", "changes", "log", "outcomes"] as const;
type FileKind = (typeof FILE_KINDS)[number];

/** Creates a file if there is none; its result says whether it did. */
export function create<Key extends FileKind>(
  kind: Key,
  key: string | number,
  value: Content | Entry | Outcome | true | World["changes"][string],
  overwrites = false,
): Program<boolean> {
  const name = `creates ${kind}/${key}`;
  const apply = (world: World): Effect<boolean> => {
    const files: Readonly<Record<string, unknown>> = world[kind];
    if (files[key] !== undefined && !overwrites) return { world, result: false };
    const changed = { ...world, [kind]: put(files, key, value) };
    return { world: kind === "log" ? withPublished(changed, Number(key)) : changed, result: true };
  };
  return perform({ name, apply, lost: false });
}

/** A publication above the newest removal is seen. */
function withPublished(world: World, publication: number): World {
  const entry = world.log[publication];
  if (entry === undefined || publication <= (removalOf(world)?.publication ?? 0)) return world;
  return { ...world, published: [...new Set([...world.published, entry.by])].sort() };
}

type Files = Readonly<Partial<Record<FileKind, readonly string[]>>>;

/** The keys of all files of the account, but for its lease. */
export function listFiles(): Program<Files> {
  return look("lists all files", (world) =>
    Object.fromEntries(FILE_KINDS.map((kind) => [kind, Object.keys(world[kind])])),
  );
}

export function deleteFiles(files: Files): Program<boolean> {
  const named = Object.entries(files).filter(([, keys]) => keys.length > 0);
  return perform({
    name: `deletes ${named.map(([kind, keys]) => `${kind}/${keys}`).join(", ")}`,
    apply: (world) => ({
      world: FILE_KINDS.reduce((left, kind) => withoutKeys(left, kind, files[kind] ?? []), world),
      result: true,
    }),
  });
}

function withoutKeys(world: World, kind: FileKind, keys: readonly string[]): World {
  const left = Object.entries(world[kind]).filter(([key]) => !keys.includes(key));
  return { ...world, [kind]: Object.fromEntries(left) };
}

export function changeGlue(name: string, change: (glue: GlueTables) => GlueTables): Program<boolean> {
  return perform({
    name: `Glue: ${name}`,
    apply: (world) => ({ world: { ...world, glue: change(world.glue) }, result: true }),
  });
}
