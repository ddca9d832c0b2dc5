// The run log: each line is what one attempt of a run did, and a row of the table `sync_runs`.

import * as z from "zod";
import { shownDefect } from "../../errors/shown-text.ts";
import { damageIn, SyncError, undefinedIfDamaged } from "../../errors/sync-error.ts";
import { jsonLine } from "../../json/json-line.ts";
import { CLOCK_TOLERANCE_MS, isFuture } from "../../runtime/clock.ts";
import { batches, inOrder } from "../../storage/batches.ts";
import { formatRunId, isOfLayout, KEPT_DAYS, runInstant } from "../../storage/layout.ts";
import { type AccountStore, readJson, SELDOM_PARSED, type StoredKey } from "../../storage/store.ts";

/** What this version writes: rows of other versions may have outcomes, triggers and codes that it does not know. */
export const OUTCOMES = [
  "PUBLISHED",
  "HELD",
  "SKIPPED",
  "SUPERSEDED",
  "HANDED_OVER",
  "DRY_RUN",
  "FAILED",
] as const;
export type Outcome = (typeof OUTCOMES)[number];
export type Trigger = "schedule" | "manual" | "accept" | "rollback";

const code = z.string().regex(/^[A-Z_]+$/);
const count = z.number().int().nonnegative().nullable();

/** Keys in the order of the table's columns (docs/format.md). Counts are null where the run did not get that far. */
export const runLogEntrySchema = z.object({
  run_id: z.string(),
  attempt: z.number().int().positive(),
  trigger: z.string().regex(/^[a-z_]+$/),
  outcome: code,
  snapshot_id: z.string().nullable(),
  listed: count,
  events: count,
  added: count,
  changed: count,
  removed: count,
  gone: count,
  forbidden: count,
  rejected: count,
  requests: count,
  retries: count,
  throttled: count,
  logins: count,
  bytes: count,
  started_at: z.string(),
  seconds: z.number().nonnegative(),
  reason: z.string().nullable(),
  error_code: code.nullable(),
  error_message: z.string().nullable(),
  version: z.string(),
  /** Absent in entries of earlier versions. */
  repeated: count.default(null),
});

export type RunLogEntry = Readonly<z.infer<typeof runLogEntrySchema>>;

/** `verify` is a command that earlier versions had. */
const COMMANDS: readonly string[] = ["accept", "rollback", "verify"];

/** Not a command: what is not known counts as a run, whose failure is told. */
export function isRun(trigger: string): boolean {
  return !COMMANDS.includes(trigger);
}

/** Listed events that have no row. */
export function leftOutCount({
  gone,
  forbidden,
  rejected,
}: Pick<RunLogEntry, "gone" | "forbidden" | "rejected">): number {
  return (gone ?? 0) + (forbidden ?? 0) + (rejected ?? 0);
}

export function errorColumns(error: unknown): Pick<RunLogEntry, "error_code" | "error_message"> {
  if (error instanceof SyncError) return { error_code: error.code, error_message: error.message };
  return { error_code: null, error_message: shownDefect(error).message };
}

/**
 * Appends the row under the next free attempt number and returns it as written.
 * @param isOnce true: unless there is a row of this run with the same beginning and outcome, which is returned
 */
export async function appendRunLog(
  store: AccountStore,
  { run_id, ...rest }: Omit<RunLogEntry, "attempt">,
  isOnce = false,
): Promise<RunLogEntry> {
  for (let attempt = 1; ; ) {
    const row = runLogEntrySchema.parse({ run_id, attempt, ...rest }, SELDOM_PARSED);
    const key = store.keys.runLog(run_id, attempt);
    if ((await store.create(key, Buffer.from(`${jsonLine(row)}\n`))) !== undefined) return row;
    // An execution may have had a thousand turns: too many to try each number.
    const taken = await numbersOf(store, run_id);
    for await (const found of isOnce ? rowsOf(store, run_id, taken) : [])
      if (found.started_at === row.started_at && found.outcome === row.outcome) return found;
    attempt = Math.max(attempt, ...taken) + 1;
  }
}

/** The rows of a run that can be read, the newest first; each is read when it is asked for. */
export async function* attemptsOf(store: AccountStore, runId: string): AsyncGenerator<RunLogEntry> {
  yield* rowsOf(store, runId, await numbersOf(store, runId));
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Whether lines of the run may be gone because of their age; a day sooner than they go, because clocks differ. */
export function mayHaveExpired(runId: string, nowMs: number): boolean {
  const startedAtMs = runInstant(runId);
  return startedAtMs !== undefined && startedAtMs < nowMs - (KEPT_DAYS.runLogs - 1) * DAY_MS;
}

/** The numbers of a run's attempts, the newest first. */
async function numbersOf(store: AccountStore, runId: string): Promise<readonly number[]> {
  const first = `${store.keys.runLogs}${runId}-`;
  const keys = await Array.fromAsync(store.list(first), ({ key }) => key);
  const numbers = keys.filter(isOfLayout).map((key) => Number.parseInt(key.slice(first.length), 10));
  return numbers.sort((a, b) => b - a);
}

async function* rowsOf(
  store: AccountStore,
  runId: string,
  attempts: readonly number[],
): AsyncGenerator<RunLogEntry> {
  for (const attempt of attempts) {
    const key = store.keys.runLog(runId, attempt);
    const row = await readRow(store, key).catch(undefinedIfDamaged);
    if (row) yield row;
  }
}

/** Commands make do without a row, so a damaged one may go. */
const REMEDY =
  "Restore it from a backup or an older version. Or delete it: only the history of the runs lacks it then.";

/** Throws `STORE_CORRUPT`. */
function readRow(store: AccountStore, key: string): Promise<RunLogEntry | undefined> {
  return readJson(store, key, runLogEntrySchema, REMEDY);
}

/**
 * Reads all of it, and gives what is damaged.
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export async function* damagedRuns(store: AccountStore, proceed: () => void): AsyncGenerator<SyncError> {
  const keys = (await Array.fromAsync(store.list(store.keys.runLogs), ({ key }) => key)).filter(isOfLayout);
  for await (const error of inOrder(batches(keys, AT_ONCE), (key) => damageIn(readRow(store, key)))) {
    proceed();
    if (error) yield error;
  }
}

/** Reads that are under way at the same time. */
const AT_ONCE = 8;

/** A run may have been resumed for days, so that its name is older than its end. Behind the last one all is listed. */
const LISTED_DAYS = [8, 64];

/**
 * Newest first, by when they ended, as each says itself: files that were copied have other times. Lists and reads few files of
 * a long log. Those that lie in the future come behind all others, so that they hide none. Throws `STORE_CORRUPT` for a
 * damaged one.
 */
export async function lastRuns(
  store: AccountStore,
  most: number,
  nowMs: number,
): Promise<readonly RunLogEntry[]> {
  // The newest by name and those by time are not the same ones, and some lie in the future.
  const looked = 2 * most;
  const { listed, ahead } = await newestFiles(store, looked, nowMs);
  // The tenth turn of an execution comes after the ninth.
  const { compare } = new Intl.Collator("en", { numeric: true });
  const byKey = listed.toSorted((a, b) => compare(a.key, b.key));
  const byTime = byKey.toSorted((a, b) => a.modifiedAtMs - b.modifiedAtMs);
  const newest = [byKey, byTime, ahead].flatMap((files) => files.slice(-looked));
  const chosen = [...new Set(newest)];
  const rows = inOrder(batches(chosen, AT_ONCE), ({ key }) => readRow(store, key));
  const runs = (await Array.fromAsync(rows)).filter((row) => row !== undefined);
  const { past = [], future = [] } = Object.groupBy(runs.sort(byEnd), (run) =>
    isFuture(startMs(run), nowMs) ? "future" : "past",
  );
  return [...future, ...past].slice(-most).reverse();
}

interface NewestFiles {
  /** By name, at least so many as are asked for if there are. */
  readonly listed: readonly StoredKey[];
  /** The entries that are named in the future. */
  readonly ahead: readonly StoredKey[];
}

async function newestFiles({ keys, list }: AccountStore, least: number, nowMs: number): Promise<NewestFiles> {
  const keyAt = (atMs: number): string => `${keys.runLogs}${formatRunId(atMs)}`;
  const end = keyAt(nowMs + CLOCK_TOLERANCE_MS);
  let newest: NewestFiles = { listed: [], ahead: [] };
  for (const from of [...LISTED_DAYS.map((days) => keyAt(nowMs - days * DAY_MS)), ""]) {
    const found = (await Array.fromAsync(list(keys.runLogs, from))).filter(({ key }) => isOfLayout(key));
    const isAhead = ({ key }: StoredKey): boolean => key > end;
    newest = { listed: found.filter((file) => !isAhead(file)), ahead: found.filter(isAhead) };
    if (newest.listed.length >= least) return newest;
  }
  return newest;
}

/** A resumed run ends after runs that began later, so the order of ids is not that of ends. */
function byEnd(a: RunLogEntry, b: RunLogEntry): number {
  return endMs(a) - endMs(b) || a.run_id.localeCompare(b.run_id) || a.attempt - b.attempt;
}

function endMs(run: RunLogEntry): number {
  return startMs(run) + run.seconds * 1000;
}

/** A log is a file, so its instant may be none: then it is as old as its run. */
function startMs({ started_at, run_id }: RunLogEntry): number {
  const startedMs = Date.parse(started_at);
  return Number.isNaN(startedMs) ? (runInstant(run_id) ?? 0) : startedMs;
}
