// What all processes of the model share: the files of one account, and the two catalogs.

/** What a snapshot holds: which run, and which process has collected it. Two collections of one run never agree. */
export interface Content {
  readonly run: number;
  readonly by: string;
}

/** An entry of the publication log. */
export interface Entry {
  /** Of a removal: its name. No run or snapshot that is not named later counts after it. */
  readonly snapshot: number;
  readonly action: "run" | "accept" | "rollback" | "remove";
  /** The run, or the start of another program, that made it. */
  readonly by: string;
  readonly pinned: boolean;
  readonly writeId: string;
}

/** What readers see in Glue: three tables that change one after the other, without a condition. */
export interface GlueTables {
  readonly events: { readonly snapshot: number; readonly publication: number } | null;
  readonly snapshots: readonly number[];
  /** The snapshot in the location of each partition of `event_changes`, by publication. */
  readonly changes: Readonly<Record<number, number>>;
}

export type Outcome = "PUBLISHED" | "HELD" | "SUPERSEDED" | "FAILED";

/** Rows of some events, as one start of a process has found them. */
export interface RowsFile {
  readonly by: string;
  readonly found: readonly number[];
  /** False: it was damaged, and its size is the same. */
  readonly isWhole: boolean;
  /** Starts that have written it, or read it while it was whole. */
  readonly readBy: readonly string[];
}

export interface ChainRecord {
  readonly end: number;
  /** Whose rows; null where the range has none. */
  readonly by: string | null;
  readonly found: readonly number[];
  readonly leftOut: readonly number[];
}

/** What is collected of one run, event by event, and its snapshot. */
export interface ChainWorld {
  /** How many are planned. */
  readonly events: number;
  /** By `place/by`. */
  readonly rows: Readonly<Record<string, RowsFile>>;
  /** By place. */
  readonly records: Readonly<Record<number, ChainRecord>>;
  readonly parts: Readonly<Record<number, RowsFile>>;
  readonly manifest: {
    readonly by: string;
    readonly parts: number;
    readonly leftOut: readonly number[];
  } | null;
  /** Something has happened to files of the run that no process has done. */
  readonly isDamaged: boolean;
  /** A process has seen that exactly the right parts are there. */
  readonly isCompared: boolean;
}

export interface World {
  readonly chain: ChainWorld;
  /** Events of each snapshot, for the guard. */
  readonly sizes: Readonly<Record<number, number>>;
  /** Runs whose login the service refuses. */
  readonly refused: readonly number[];
  /** Null: no file. An empty text: free. */
  readonly lease: string | null;
  readonly staged: Readonly<Record<number, Content>>;
  readonly snapshots: Readonly<Record<number, Content>>;
  readonly held: Readonly<Record<number, true>>;
  /** By `publication/snapshot`. */
  readonly changes: Readonly<Record<string, { readonly from: Content | null; readonly to: Content }>>;
  readonly log: Readonly<Record<number, Entry>>;
  readonly outcomes: Readonly<Record<number, Outcome>>;
  readonly glue: GlueTables;
  /** `views.sql`: the last entry of the log that it knows. */
  readonly views: number;
  /** Who has published what readers could see at some moment; no file. */
  readonly published: readonly string[];
}

export interface Head extends Entry {
  readonly publication: number;
}

/** Where the log ends: its last number, and what readers see, or the removal that says that they see nothing. */
export interface LogEnd {
  readonly last: number;
  readonly head: Head | undefined;
  readonly removal: Head | undefined;
}

export function endOf({ log }: Pick<World, "log">): LogEnd {
  const last = Math.max(0, ...Object.keys(log).map(Number));
  const entry = log[last];
  const found = entry && { ...entry, publication: last };
  return found?.action === "remove"
    ? { last, head: undefined, removal: found }
    : { last, head: found, removal: undefined };
}

export const headOf = (world: Pick<World, "log">): Head | undefined => endOf(world).head;

/** The newest removal: below it nothing counts. */
export function removalOf(world: Pick<World, "log">): Head | undefined {
  return entriesOf(world).findLast(({ action }) => action === "remove");
}

/** All that counts, oldest first. */
export function publicationsOf(world: Pick<World, "log">): readonly Head[] {
  const cut = removalOf(world)?.publication ?? 0;
  return entriesOf(world).filter(({ publication }) => publication > cut);
}

export function entriesOf({ log }: Pick<World, "log">): readonly Head[] {
  return Object.entries(log).map(([publication, entry]) => ({ ...entry, publication: Number(publication) }));
}

/** The record with one more key. Its keys stay sorted, so equal worlds have equal texts. */
export function put<Value>(
  record: Readonly<Record<string, Value>>,
  key: string | number,
  value: Value,
): Readonly<Record<string, Value>> {
  const entries = Object.entries(record).filter(([each]) => each !== String(key));
  return Object.fromEntries([...entries, [String(key), value] as const].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export interface FirstWorld {
  readonly sizes: Readonly<Record<number, number>>;
  /** Complete, and held. */
  readonly held?: readonly number[];
  readonly refused?: readonly number[];
  /** Nothing is published yet. */
  readonly isNew?: boolean;
  /** Of the run that is collected event by event. */
  readonly events?: number;
  /** A part that lies in the folder of its snapshot, and is no process's. */
  readonly foreignPart?: number;
}

/** Snapshot 1 is published and shown. */
export function firstWorld({
  sizes,
  held = [],
  refused = [],
  isNew = false,
  events = 0,
  foreignPart,
}: FirstWorld): World {
  const content = (run: number): Content => ({ run, by: "before" });
  const complete = [...(isNew ? [] : [1]), ...held];
  const foreign: RowsFile = { by: "none of them", found: [0], isWhole: true, readBy: [] };
  const empty: World = {
    chain: {
      events,
      rows: {},
      records: {},
      parts: foreignPart === undefined ? {} : { [foreignPart]: foreign },
      manifest: null,
      isDamaged: foreignPart !== undefined,
      isCompared: false,
    },
    sizes,
    refused,
    lease: null,
    staged: {},
    snapshots: Object.fromEntries(complete.map((run) => [run, content(run)])),
    held: Object.fromEntries(held.map((run) => [run, true as const])),
    changes: {},
    log: {},
    outcomes: Object.fromEntries(held.map((run) => [run, "HELD" as const])),
    glue: { events: null, snapshots: [], changes: {} },
    views: 0,
    published: [],
  };
  if (isNew) return empty;
  return {
    ...empty,
    changes: { "1/1": { from: null, to: content(1) } },
    log: { 1: { snapshot: 1, action: "run", by: "run 1", pinned: false, writeId: "before" } },
    outcomes: { 1: "PUBLISHED", ...empty.outcomes },
    glue: { events: { snapshot: 1, publication: 1 }, snapshots: [1], changes: { 1: 1 } },
    views: 1,
    published: ["run 1"],
  };
}
