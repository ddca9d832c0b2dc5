// What all processes of the model share: the files of one account, and the two catalogs.

/** What a snapshot holds: which run, and which process has collected it. Two collections of one run never agree. */
export interface Content {
  readonly run: number;
  readonly by: string;
}

/** An entry of the publication log. */
export interface Entry {
  readonly snapshot: number;
  readonly action: "run" | "accept" | "rollback";
  /** The run, or the start of `accept` or `rollback`, that made it. */
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

export interface World {
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
  /** `views.sql`: the publications it shows. */
  readonly views: number;
}

export interface Head extends Entry {
  readonly publication: number;
}

export function headOf({ log }: World): Head | undefined {
  const publication = Object.keys(log).length;
  const entry = log[publication];
  return entry && { ...entry, publication };
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
}

/** Snapshot 1 is published and shown. */
export function firstWorld({ sizes, held = [], refused = [] }: FirstWorld): World {
  const content = (run: number): Content => ({ run, by: "before" });
  const complete = [1, ...held];
  return {
    sizes,
    refused,
    lease: null,
    staged: {},
    snapshots: Object.fromEntries(complete.map((run) => [run, content(run)])),
    held: Object.fromEntries(held.map((run) => [run, true as const])),
    changes: { "1/1": { from: null, to: content(1) } },
    log: { 1: { snapshot: 1, action: "run", by: "run 1", pinned: false, writeId: "before" } },
    outcomes: { 1: "PUBLISHED", ...Object.fromEntries(held.map((run) => [run, "HELD" as const])) },
    glue: { events: { snapshot: 1, publication: 1 }, snapshots: [1], changes: { 1: 1 } },
    views: 1,
  };
}
