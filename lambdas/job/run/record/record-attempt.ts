// The end of an attempt: its line in the run log, and the outcome when the run is finished for good.

import { SyncError } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunEnd, RunState } from "../run-state.ts";
import { appendRunLog, type Outcome, type RunLogEntry, type Trigger } from "./run-log.ts";
import { type RunResult, writeRunResult } from "./run-result.ts";

export type AttemptEnd = RunEnd | { readonly error: unknown };

/** When an attempt began. */
export interface Start {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** For its duration, which is right also where the clock is set meanwhile. */
  readonly monotonicMs: number;
}

export function startNow(clock: Clock): Start {
  return { atMs: clock.now(), monotonicMs: clock.monotonicMs() };
}

export interface RecordTask {
  readonly ports: Pick<RunPorts, "store" | "clock" | "logger" | "version">;
  readonly account: string;
  readonly trigger: Trigger;
  readonly started: Start;
  readonly state: RunState;
}

/** These end a start, not a run: a later start with the same id goes on. */
const NEVER_FINISH: ReadonlySet<Outcome> = new Set(["SKIPPED", "DRY_RUN"]);

/** Throws what is no `SyncError`, after it is in the run log: nobody foresaw it, so nobody may swallow it. */
export async function recordAttempt(task: RecordTask, end: AttemptEnd): Promise<RunResult> {
  const { ports, account, state } = task;
  const row = rowOf(task, end);
  if ("error" in end) {
    const { error } = end;
    const written = await logFailure(task, row);
    if (!(error instanceof SyncError)) throw error;
    const result: RunResult = { row: written, error };
    if (!error.isRetryable)
      await writeRunResult(ports.store, account, result).catch(() => warnNotWritten(ports));
    return result;
  }
  const { explanation } = end;
  try {
    const written = await appendRunLog(ports.store, account, row);
    const result: RunResult = { row: written, ...(explanation === undefined ? {} : { explanation }) };
    if (isRun(task) && !NEVER_FINISH.has(end.outcome)) await writeRunResult(ports.store, account, result);
    return result;
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    ports.logger.error(`the outcome ${end.outcome} could not be recorded`, { run_id: state.runId });
    return { row: { ...rowOf(task, { error }), attempt: 1 }, error };
  }
}

/** An accept or a rollback is over when it is over: nothing starts it again under its id. */
function isRun({ trigger }: RecordTask): boolean {
  return trigger === "schedule" || trigger === "manual";
}

/** The log must not hide the failure that it is about. */
async function logFailure(
  { ports, account }: RecordTask,
  row: Omit<RunLogEntry, "attempt">,
): Promise<RunLogEntry> {
  try {
    return await appendRunLog(ports.store, account, row);
  } catch {
    warnNotWritten(ports);
    return { ...row, attempt: 1 };
  }
}

function warnNotWritten({ logger }: RecordTask["ports"]): void {
  logger.warn("the end of this attempt could not be written to the warehouse");
}

function rowOf(task: RecordTask, end: AttemptEnd): Omit<RunLogEntry, "attempt"> {
  const { ports, trigger, started, state } = task;
  const service = state.service?.();
  const failed = "error" in end;
  return {
    run_id: state.runId,
    trigger,
    outcome: failed ? "FAILED" : end.outcome,
    snapshot_id: state.snapshotId,
    ...state.counts,
    requests: service?.requests ?? null,
    retries: service?.retries ?? null,
    throttled: service?.throttled ?? null,
    logins: service?.logins ?? null,
    bytes: service?.bytes ?? null,
    started_at: new Date(started.atMs).toISOString(),
    seconds: Math.round(ports.clock.monotonicMs() - started.monotonicMs) / 1000,
    reason: failed ? null : end.reason,
    ...(failed ? describe(end.error) : { error_code: null, error_message: null }),
    version: ports.version,
  };
}

/** A foreign error's message may quote what it choked on, so only its kind is written. */
function describe(error: unknown): Pick<RunLogEntry, "error_code" | "error_message"> {
  if (error instanceof SyncError) return { error_code: error.code, error_message: error.message };
  const kind = error instanceof Error ? error.name : typeof error;
  return {
    error_code: null,
    error_message: `Unexpected error (${kind}). This is a defect: please report it.`,
  };
}
