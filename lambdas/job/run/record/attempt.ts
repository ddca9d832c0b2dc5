// One attempt: how far it got, and at its end its line in the run log and, when the run is finished, the outcome file.

import { SyncError } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ListDoubt } from "../../service/event-service.ts";
import type { ServiceCounts } from "../../service/requests/sender.ts";
import type { Manifest } from "../../snapshot/files/manifest.ts";
import { formatRunId } from "../../storage/layout.ts";
import type { Publication } from "../../storage/publication.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { WarehousePorts, WorldPorts } from "../run-ports.ts";
import {
  appendRunLog,
  errorColumns,
  isRun,
  type Outcome,
  type RunLogEntry,
  type Trigger,
} from "./run-log.ts";
import { type RunEnd, type RunFailure, type RunResult, StartSkipped, writeRunResult } from "./run-result.ts";

/** Updated while the attempt works, so that a failed one still reports how far it got. */
export interface Attempt {
  readonly trigger: Trigger;
  /** A failure of it says nothing of the account's runs, and its line in the log says so. */
  readonly isDryRun: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number;
  /** For its duration, which stays right when the wall clock is set meanwhile. */
  readonly startedMonotonicMs: number;
  /** Changes when a manual start adopts an unfinished run. */
  runId: string;
  snapshotId: string | null;
  counts: SnapshotCounts;
  /** Of the list, once it is read. */
  doubt?: ListDoubt | undefined;
  /** Once it is opened. */
  service?: { readonly counts: ServiceCounts };
  /** The number of the publication, once there is one: nothing that fails after it takes it back. */
  publication?: string | undefined;
}

export type SnapshotCounts = Pick<
  RunLogEntry,
  "listed" | "events" | "added" | "changed" | "removed" | "gone" | "forbidden" | "rejected" | "repeated"
>;

export const NO_COUNTS: SnapshotCounts = {
  listed: null,
  events: null,
  added: null,
  changed: null,
  removed: null,
  gone: null,
  forbidden: null,
  rejected: null,
  repeated: null,
};

export function countsOf(manifest: Manifest, publication?: Publication): SnapshotCounts {
  const { listed, events, gone, forbidden, rejected, repeated } = manifest.counts;
  const { added = null, changed = null, removed = null } = publication ?? {};
  return { listed, events, added, changed, removed, gone, forbidden, rejected, repeated };
}

/** The attempt begins now. Without an id its instant names the run. */
export function beginAttempt(clock: Clock, trigger: Trigger, runId?: string, isDryRun = false): Attempt {
  const startedAtMs = clock.now();
  return {
    trigger,
    isDryRun,
    startedAtMs,
    startedMonotonicMs: clock.monotonicMs(),
    runId: runId ?? formatRunId(startedAtMs),
    snapshotId: null,
    counts: NO_COUNTS,
  };
}

type RecordPorts = WorldPorts & WarehousePorts;

/** Outcomes that end a start, not its run: a later start with the same id continues it. */
const NEVER_FINISH: ReadonlySet<Outcome> = new Set(["SKIPPED", "HANDED_OVER", "DRY_RUN"]);

/**
 * Rethrows what is no `SyncError` once it is in the run log: it is a defect, and must not be hidden.
 * @param finishing where the outcome of a run that publishes nothing is written: the store of its lease. Null: the run
 * is not this attempt's to finish. Default: no other process works at the run
 */
export async function recordAttempt(
  ports: RecordPorts,
  attempt: Attempt,
  end: RunEnd | RunFailure,
  finishing: AccountStore | null = ports.store,
): Promise<RunResult> {
  if (!("error" in end)) return recordEnd(ports, attempt, end, finishing);
  return recordFailure(ports, attempt, afterCommit(end.error, attempt.publication), finishing);
}

/** The code stays that of the cause, so alarms and retries work as for the cause. */
function afterCommit<Cause>(error: Cause, publication: string | undefined): Cause | SyncError {
  if (publication === undefined || !(error instanceof SyncError)) return error;
  return new SyncError(
    error.code,
    `PUBLISHED as number ${publication}, not recorded: ${error.message} The snapshot stays published: the next run writes what is missing, and then makes its own.`,
    { fields: error.fields, next: error.next, cause: error },
  );
}

async function recordEnd(
  ports: RecordPorts,
  attempt: Attempt,
  end: RunEnd,
  finishing: AccountStore | null,
): Promise<RunResult> {
  try {
    const result = resultOf(await appendRunLog(ports.store, rowOf(ports, attempt, end)), attempt, end);
    // A command that is no run is never started again under its id.
    const isFinished = isRun(attempt.trigger) && !NEVER_FINISH.has(end.outcome);
    return isFinished ? await finish(ports, attempt, result, finishing) : result;
  } catch (problem) {
    if (!(problem instanceof SyncError)) throw problem;
    const error = afterCommit(problem, attempt.publication);
    ports.logger.error(`the outcome ${end.outcome} could not be recorded`, { run_id: attempt.runId });
    return unrecordedFailure(ports, attempt, error);
  }
}

/** The result of a failure that is not in the run log. */
export function unrecordedFailure(
  ports: Pick<RecordPorts, "clock" | "version">,
  attempt: Attempt,
  error: SyncError,
): RunResult {
  return { row: { ...rowOf(ports, attempt, { error }), attempt: 1 }, ...doubtOf(attempt), error };
}

/** A record that cannot be written must not hide the failure itself. */
async function recordFailure(
  ports: RecordPorts,
  attempt: Attempt,
  error: unknown,
  finishing: AccountStore | null,
): Promise<RunResult> {
  const entry = rowOf(ports, attempt, { error });
  const row = await appendRunLog(ports.store, entry).catch(() => {
    warnNotWritten(ports);
    return { ...entry, attempt: 1 };
  });
  if (!(error instanceof SyncError)) throw error;
  const result: RunResult = { row, ...doubtOf(attempt), error };
  // A run that has published is finished as that by the next start, whatever failed here.
  if (error.isRetryable || !isRun(attempt.trigger) || attempt.publication !== undefined) return result;
  try {
    return await finish(ports, attempt, result, finishing);
  } catch {
    warnNotWritten(ports);
    return result;
  }
}

/** Where another process has the lease by now, the run is that one's to finish, and an error is not the run's. */
async function finish(
  ports: RecordPorts,
  attempt: Attempt,
  result: RunResult,
  finishing: AccountStore | null,
): Promise<RunResult> {
  const store = result.row.outcome === "PUBLISHED" ? ports.store : finishing;
  try {
    return store ? await writeRunResult(store, result) : result;
  } catch (problem) {
    if (!(problem instanceof StartSkipped)) throw problem;
    const { end } = problem;
    if (result.error === undefined) return result;
    return resultOf({ ...rowOf(ports, attempt, end), attempt: result.row.attempt }, attempt, end);
  }
}

function resultOf(row: RunLogEntry, attempt: Attempt, { outcome: _, reason: __, ...end }: RunEnd): RunResult {
  return { row, ...end, ...doubtOf(attempt) };
}

function doubtOf({ doubt }: Attempt): Pick<RunResult, "doubt"> {
  return doubt ? { doubt } : {};
}

function warnNotWritten({ logger }: RecordPorts): void {
  logger.warn("the result of this attempt could not be written to the warehouse");
}

/** The line of the run log, without its number. */
export function rowOf(
  { clock, version }: Pick<RecordPorts, "clock" | "version">,
  attempt: Attempt,
  end: RunEnd | RunFailure,
): Omit<RunLogEntry, "attempt"> {
  const counted = attempt.service?.counts;
  const failed = "error" in end;
  const { repeated, ...counts } = attempt.counts;
  return {
    run_id: attempt.runId,
    trigger: attempt.trigger,
    outcome: failed ? "FAILED" : end.outcome,
    snapshot_id: attempt.snapshotId,
    ...counts,
    requests: counted?.requests ?? null,
    retries: counted?.retries ?? null,
    throttled: counted?.throttled ?? null,
    logins: counted?.logins ?? null,
    bytes: counted?.bytes ?? null,
    started_at: new Date(attempt.startedAtMs).toISOString(),
    seconds: Math.round(clock.monotonicMs() - attempt.startedMonotonicMs) / 1000,
    reason: failed ? (attempt.isDryRun ? "DRY_RUN" : null) : end.reason,
    ...(failed ? errorColumns(end.error) : { error_code: null, error_message: null }),
    version,
    repeated,
  };
}
