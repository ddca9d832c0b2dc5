// The one place that knows where things lie in a warehouse; `docs/format.md` says what is in them.

/** The folders at the root, each with its closing slash. */
export const FOLDERS = {
  snapshots: "snapshots/",
  changes: "changes/",
  publications: "publications/",
  runLogs: "run-log/",
  runs: "runs/",
  accounts: "accounts/",
} as const;

/**
 * For so many days files are kept in the folders of which nothing else ever deletes them. In a bucket a lifecycle rule deletes
 * older ones, in a directory each run those of its account.
 */
export const KEPT_DAYS = { runs: 14, runLogs: 400 } as const satisfies Partial<
  Record<keyof typeof FOLDERS, number>
>;

/** The columns of one's own that the tables have. */
export const COLUMNS_FILE = "columns.json";

/** The tables for DuckDB; only in a warehouse that is a directory. */
export const VIEWS_FILE = "views.sql";

const ACCOUNT = "[a-z0-9][a-z0-9_-]{0,39}";
const ID = "[A-Za-z0-9][A-Za-z0-9._-]*";
const PART = "part-[0-9]{5}[.]ndjson[.]gz";

/** What the keys in each folder look like, for DuckDB too: whatever else lies there is not this program's. */
export const KEYS_IN = {
  // A file of earlier versions, too: `_digests.bin`.
  snapshots: `${FOLDERS.snapshots}${ACCOUNT}/${ID}/(${PART}|_(manifest|held|retired)[.]json|_left_out[.]ndjson|_digests[.]bin)`,
  // Files of earlier versions, too: changes that were given up.
  changes: `${FOLDERS.changes}${ACCOUNT}/[0-9]{10}/${ID}/(${PART}|_lost[.]json)`,
  publications: `${FOLDERS.publications}${ACCOUNT}/[0-9]{10}[.]ndjson`,
  runLogs: `${FOLDERS.runLogs}${ACCOUNT}/${ID}-[0-9]+[.]ndjson`,
  runs: `${FOLDERS.runs}${ACCOUNT}/(${ID}/((plan|rows-[0-9]{8}-[A-Za-z0-9-]+)[.]ndjson[.]gz|(record-[0-9]{8}|unread-[0-9a-f-]{36}|outcome)[.]json)|check-[A-Za-z0-9-]+[.]json)`,
  accounts: `${FOLDERS.accounts}${ACCOUNT}/(lease|login-refused)[.]json`,
} as const satisfies Record<keyof typeof FOLDERS, string>;

const KEY = new RegExp(`^(${Object.values(KEYS_IN).join("|")})$`);

/** Nothing else in the folders is read by the program or deleted. */
export const isOfLayout = (key: string): boolean => KEY.test(key);

const DECIDING = new RegExp(`^${FOLDERS.runs}${ACCOUNT}/${ID}/(record-[0-9]{8}|outcome)[.]json$`);

/** Whether the file decides what a run comes to: the record of a range, or the outcome. */
export const decidesRun = (key: string): boolean => DECIDING.test(key);

const TOP = `(${Object.values(FOLDERS).join("|")})`;
/** A run's id. */
const INSTANT = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}[.][0-9]{3}Z";
const ACCOUNT_FOLDER = new RegExp(`^${TOP}${ACCOUNT}/$`);
const FOLDER = new RegExp(
  `^${TOP}(${ACCOUNT}/)?$|^(snapshots|runs)/${ACCOUNT}/${INSTANT}/$|^changes/${ACCOUNT}/[0-9]{10}/(${INSTANT}/)?$`,
);

/** Whether a file of the layout has this name, or a folder on the way to one. */
export const isPlace = (name: string): boolean =>
  isOfLayout(name) || FOLDER.test(`${name}/`) || name === COLUMNS_FILE || name === VIEWS_FILE;

/** @param folder with its closing slash */
export const isAccountFolder = (folder: string): boolean => ACCOUNT_FOLDER.test(folder);

const five = (n: number): string => String(n).padStart(5, "0");
const eight = (n: number): string => String(n).padStart(8, "0");

/** The ten digits that number a publication everywhere: `0000000001`. */
export const publicationId = (n: number): string => String(n).padStart(10, "0");

/** The keys of one account. Names of folders end in a slash. */
export function layout(account: string) {
  const snapshots = `${FOLDERS.snapshots}${account}/`;
  const snapshot = (snapshotId: string): string => `${snapshots}${snapshotId}/`;
  const changes = (publication: string, snapshotId: string): string =>
    `${FOLDERS.changes}${account}/${publication}/${snapshotId}/`;
  const publications = `${FOLDERS.publications}${account}/`;
  const runLogs = `${FOLDERS.runLogs}${account}/`;
  const runs = `${FOLDERS.runs}${account}/`;
  const run = (runId: string): string => `${runs}${runId}/`;
  return {
    snapshots,
    snapshot,
    part: (snapshotId: string, index: number) => `${snapshot(snapshotId)}part-${five(index)}.ndjson.gz`,
    manifest: (snapshotId: string) => `${snapshot(snapshotId)}_manifest.json`,
    leftOut: (snapshotId: string) => `${snapshot(snapshotId)}_left_out.ndjson`,
    held: (snapshotId: string) => `${snapshot(snapshotId)}_held.json`,
    retired: (snapshotId: string) => `${snapshot(snapshotId)}_retired.json`,

    /** What one publication changed. */
    changes,
    changesPart: (publication: string, snapshotId: string, index: number) =>
      `${changes(publication, snapshotId)}part-${five(index)}.ndjson.gz`,

    publications,
    publication: (publication: string) => `${publications}${publication}.ndjson`,

    runLogs,
    runLog: (runId: string, attempt: number) => `${runLogs}${runId}-${attempt}.ndjson`,

    runs,
    run,
    plan: (runId: string) => `${run(runId)}plan.ndjson.gz`,
    /** Rows of the planned events from a place on; the token is the writer's own. */
    rows: (runId: string, place: number, token: string) =>
      `${run(runId)}rows-${eight(place)}-${token}.ndjson.gz`,
    /** Says which rows those of the events from a place on are, and where the next record begins. */
    record: (runId: string, place: number) => `${run(runId)}record-${eight(place)}.json`,
    /** Since when an event could not be read, for a reason that may pass. */
    unread: (runId: string, uuid: string) => `${run(runId)}unread-${uuid}.json`,
    outcome: (runId: string) => `${run(runId)}outcome.json`,

    /** A file that `check` creates and deletes to see whether it may. */
    writeCheck: (token: string) => `${runs}check-${token}.json`,

    lease: `${FOLDERS.accounts}${account}/lease.json`,
    loginRefused: `${FOLDERS.accounts}${account}/login-refused.json`,
  } as const;
}

/** `2026-11-21T06-00-00.000Z`. Sorting names sorts instants. */
export function formatRunId(instantMs: number): string {
  return new Date(instantMs).toISOString().replaceAll(":", "-");
}

/** The instant a run id names, in milliseconds since the Unix epoch; undefined if it is no run id. */
export function runInstant(runId: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}Z$/.test(runId)) return undefined;
  const [date, time = ""] = runId.split("T");
  const instantMs = Date.parse(`${date}T${time.replaceAll("-", ":")}`);
  return Number.isNaN(instantMs) ? undefined : instantMs;
}

/** The five tables (`docs/format.md`): names, columns in order, types, partitions. Rows have this order too. */
interface Column {
  readonly name: string;
  readonly type: "string" | "bigint" | "double" | "boolean";
}

interface Table {
  readonly columns: readonly Column[];
  /** Partition columns, strings all; they come from the path, not from the file. */
  readonly partitions: readonly string[];
}

const strings = (...names: readonly string[]): readonly Column[] =>
  names.map((name) => ({ name, type: "string" }));
const counts = (...names: readonly string[]): readonly Column[] =>
  names.map((name) => ({ name, type: "bigint" }));

const EVENT_COLUMNS = strings("uuid", "event_date", "scope", "event", "listing");

export const TABLES = {
  events: { columns: EVENT_COLUMNS, partitions: ["account"] },
  event_snapshots: { columns: EVENT_COLUMNS, partitions: ["account", "snapshot_id"] },
  event_changes: {
    columns: strings("uuid", "change", "fields", "before", "after"),
    partitions: ["account", "publication"],
  },
  publications: {
    columns: [
      ...strings("publication", "action", "snapshot_id", "base_snapshot_id", "published_at"),
      ...counts("events", "added", "changed", "removed"),
      ...strings("run_id"),
      { name: "pinned", type: "boolean" },
      ...strings("write_id"),
    ],
    partitions: ["account"],
  },
  sync_runs: {
    columns: [
      ...strings("run_id"),
      ...counts("attempt"),
      ...strings("trigger", "outcome", "snapshot_id"),
      ...counts("listed", "events", "added", "changed", "removed", "gone", "forbidden", "rejected"),
      ...counts("requests", "retries", "throttled", "logins", "bytes"),
      ...strings("started_at"),
      { name: "seconds", type: "double" },
      ...strings("reason", "error_code", "error_message", "version"),
      ...counts("repeated"),
    ],
    partitions: ["account"],
  },
} as const satisfies Record<string, Table>;

export type TableName = keyof typeof TABLES;
