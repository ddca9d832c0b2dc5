// The end of an attempt: its line in the run log, and the outcome file when the run is finished.

import { isDamage, SyncError } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import { readJson } from "../../storage/json-object.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunEnd, RunFailure, RunState } from "../run-state.ts";
import { errorColumns } from "./run-event.ts";
import {
  appendRunLog,
  appendRunLogOnce,
  isRun,
  type Outcome,
  type RunLogEntry,
  runLogEntrySchema,
  type Trigger,
} from "./run-log.ts";
import { type RunResult, writeRunResult } from "./run-result.ts";

/** When an attempt began. */
interface Start {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** For its duration, which stays right when the wall clock is set meanwhile. */
  readonly monotonicMs: number;
}

export function startNow(clock: Clock): Start {
  return { atMs: clock.now(), monotonicMs: clock.monotonicMs() };
}

export interface RecordTask {
  readonly ports: Pick<RunPorts, "store" | "clock" | "logger" | "version">;
  readonly trigger: Trigger;
  readonly started: Start;
  readonly state: RunState;
  /**
   * True where another process found the end of this attempt: whatever ended it, the run can be resumed. Its beginning is
   * the instant at which it was found to have ended, so several processes that find it write it once.
   */
  readonly isAbandoned?: true;
  /**
   * What a failed attempt has come to, asked just before its error finishes the run: another process may have taken the
   * lease meanwhile. Undefined where the run is not this attempt's to finish. Absent where no other process works at it.
   */
  readonly confirmedEnd?: (error: SyncError) => Promise<RunEnd | RunFailure | undefined>;
}

/** These end a start, not its run: a later start with the same id continues it. */
const NEVER_FINISH: ReadonlySet<Outcome> = new Set(["SKIPPED", "HANDED_OVER", "DRY_RUN"]);

/** Rethrows what is no `SyncError` once it is in the run log: it is a defect, and must not be hidden. */
export async function recordAttempt(task: RecordTask, end: RunEnd | RunFailure): Promise<RunResult> {
  const { publication } = task.state;
  if ("error" in end) return recordFailure(task, { error: afterCommit(end.error, publication) });
  return recordEnd(task, end);
}

/** The code stays that of the cause, so alarms and retries work as for the cause. */
function afterCommit<Cause>(error: Cause, publication: string | undefined): Cause | SyncError {
  if (publication === undefined || !(error instanceof SyncError)) return error;
  return new SyncError(
    error.code,
    `PUBLISHED as number ${publication}, not recorded: ${error.message} The snapshot stays published: the next run writes what is missing, and then makes its own.`,
    { fields: error.fields, cause: error },
  );
}

async function recordEnd(task: RecordTask, end: RunEnd): Promise<RunResult> {
  const { ports, state } = task;
  try {
    const row = await appendRunLog(ports.store, rowOf(task, end));
    const result = resultOf(row, end);
    // What is no run is never started again under its id.
    const isFinished = isRun(task.trigger) && !NEVER_FINISH.has(end.outcome);
    return isFinished ? await writeRunResult(ports.store, result) : result;
  } catch (problem) {
    if (!(problem instanceof SyncError)) throw problem;
    const error = afterCommit(problem, state.publication);
    ports.logger.error(`the outcome ${end.outcome} could not be recorded`, { run_id: state.runId });
    return { row: { ...rowOf(task, { error }), attempt: 1 }, error };
  }
}

/** That it cannot be written must not hide the failure itself. */
async function recordFailure(task: RecordTask, failure: RunFailure): Promise<RunResult> {
  const { ports, isAbandoned, confirmedEnd } = task;
  const { error } = failure;
  const entry = rowOf(task, failure);
  if (isAbandoned && error instanceof SyncError) {
    return { row: await appendRunLogOnce(ports.store, entry), error, isAbandoned };
  }
  const row = await appendRunLog(ports.store, entry).catch(() => {
    warnNotWritten(ports);
    return { ...entry, attempt: 1 };
  });
  if (!(error instanceof SyncError)) throw error;
  const result: RunResult = { row, error };
  // A run that has published is finished as that by the next start, whatever failed here.
  if (error.isRetryable || !isRun(task.trigger) || task.state.publication !== undefined) return result;
  try {
    const end = confirmedEnd ? await confirmedEnd(error) : failure;
    if (end === undefined) return result;
    if (!("error" in end)) return resultOf({ ...rowOf(task, end), attempt: row.attempt }, end);
    return await writeRunResult(ports.store, result);
  } catch {
    warnNotWritten(ports);
    return result;
  }
}

function resultOf(row: RunLogEntry, { explanation, preview, columns, handedOver }: RunEnd): RunResult {
  return {
    row,
    ...(explanation === undefined ? {} : { explanation }),
    ...(preview === undefined ? {} : { preview }),
    ...(columns === undefined ? {} : { columns }),
    ...(handedOver === undefined ? {} : { handedOver }),
  };
}

function warnNotWritten({ logger }: RecordTask["ports"]): void {
  logger.warn("the result of this attempt could not be written to the warehouse");
}

function rowOf(task: RecordTask, end: RunEnd | RunFailure): Omit<RunLogEntry, "attempt"> {
  const { ports, trigger, started, state } = task;
  const service = state.service?.();
  const failed = "error" in end;
  const { repeated, ...counts } = state.counts;
  return {
    run_id: state.runId,
    trigger,
    outcome: failed ? "FAILED" : end.outcome,
    snapshot_id: state.snapshotId,
    ...counts,
    requests: service?.requests ?? null,
    retries: service?.retries ?? null,
    throttled: service?.throttled ?? null,
    logins: service?.logins ?? null,
    bytes: service?.bytes ?? null,
    started_at: new Date(started.atMs).toISOString(),
    seconds: Math.round(ports.clock.monotonicMs() - started.monotonicMs) / 1000,
    reason: failed ? null : end.reason,
    ...(failed ? errorColumns(end.error) : { error_code: null, error_message: null }),
    version: ports.version,
    repeated,
  };
}

/** Says once that a run has begun, however many attempts it takes. */
interface AnnounceTask {
  readonly ports: Pick<RunPorts, "store" | "clock" | "onStarted">;
  readonly runId: string;
  readonly trigger: Trigger;
}

/**
 * Called by an attempt that has the lease, has opened the service, and found no plan of its run. Says nothing where an
 * earlier attempt of the run came as far: its line of the run log has requests.
 */
export async function announceStart({ ports, runId, trigger }: AnnounceTask): Promise<void> {
  if (ports.onStarted === undefined || (await hasBegun(ports.store, runId))) return;
  await ports.onStarted({ runId, trigger, startedAtMs: ports.clock.now() });
}

async function hasBegun(store: AccountStore, runId: string): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const row = await readJson(store, store.keys.runLog(runId, attempt), runLogEntrySchema);
      if (row === undefined) return false;
      if (row.requests !== null) return true;
    } catch (error) {
      // What a damaged line says is for check. Twice is better than never.
      if (!isDamage(error)) throw error;
    }
  }
}
