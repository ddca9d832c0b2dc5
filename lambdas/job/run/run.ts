// One start of a run, from the lease to the outcome; and one turn of an execution, which continues a run.

import { plannedTrigger } from "../snapshot/staging/plan.ts";
import type { AccountStore } from "../storage/store.ts";
import { dryRun } from "./dry-run.ts";
import { askExecution, handOver, type OwnExecution } from "./hand-over/hand-over.ts";
import { Lease } from "./lease/lease.ts";
import { acquireLease, freeLease, readExecutionLease } from "./lease/lease-account.ts";
import { makeSnapshot } from "./make-snapshot.ts";
import { orWarn } from "./or-warn.ts";
import { mendChanges } from "./publish/mend-changes.ts";
import { applyRetention } from "./publish/retention.ts";
import { beginAttempt, recordAttempt } from "./record/attempt.ts";
import type { Trigger } from "./record/run-log.ts";
import { endOf, type RunEnd, type RunResult, readRunResult } from "./record/run-result.ts";
import type { RunPorts } from "./run-ports.ts";
import { RunSession } from "./run-session.ts";
import type { RunSettings } from "./run-settings.ts";

export interface RunStart {
  readonly trigger: Trigger;
  /** The run's own id where a trigger gives it; a manual start makes one. */
  readonly runId?: string;
  /** Starts from the beginning, whatever an earlier start has left. */
  readonly fresh?: boolean;
  /** Publishes although files of the head are damaged; with a whole head it changes nothing. */
  readonly overDamaged?: boolean;
  readonly dryRun?: { readonly limit: number | undefined };
  /** The execution that this start works for; it names its run. */
  readonly execution?: OwnExecution;
}

/**
 * Makes a snapshot, or says why not. Returns the run's row for every outcome, `FAILED` included; throws only what is
 * no `SyncError`.
 */
export async function run(ports: RunPorts, settings: RunSettings, start: RunStart): Promise<RunResult> {
  const attempt = beginAttempt(ports.clock, start.trigger, start.runId);
  ports.onRunId?.(attempt.runId);
  const begun = await begin(ports, settings, start, attempt.runId).catch((error: unknown) =>
    endOf(ports.signal.aborted ? ports.signal.reason : error),
  );
  if ("row" in begun) return begun;
  // Without the lease no error finishes the run.
  if (!(begun instanceof Lease)) return recordAttempt(ports, attempt, begun, async () => undefined);

  const session = new RunSession(ports, settings, attempt, begun);
  try {
    const end = await work(session, start)
      .catch((error: unknown) => handOver(session, error, start.execution))
      .catch((error: unknown) => session.endOf(error));
    if ("row" in end) return end;
    const result = await recordAttempt(ports, attempt, end, (error) => session.confirmedEndOf(error));
    // The execution retries, or is started again: until then the run is still its own, unless the lease is taken.
    if (start.execution && result.error?.isRetryable) await session.lease.leave().catch(() => undefined);
    return result;
  } finally {
    await session.close();
  }
}

/** The lease, or the recorded result of a run that is finished. */
async function begin(
  ports: RunPorts,
  settings: RunSettings,
  start: RunStart,
  runId: string,
): Promise<Lease | RunResult> {
  const finished = await resultBefore(ports.store, start);
  if (finished) return finished;
  const { executions } = ports;
  const execution = start.execution?.arn;
  return acquireLease(ports, {
    runId,
    execution,
    limits: settings,
    askExecution:
      executions && ((other) => askExecution(ports, executions, settings, other, execution === undefined)),
    waitForOwnRun: start.runId !== undefined,
  });
}

/** How the attempt ended, or the recorded result of a run that is finished. */
async function work(session: RunSession, start: RunStart): Promise<RunEnd | RunResult> {
  // A second delivery of the trigger may have waited for the first one, which has finished the run.
  const meanwhile = await resultBefore(session.ports.store, start);
  if (meanwhile) return meanwhile;

  const baseline = await session.openWarehouse(start.overDamaged === true);
  if (start.dryRun) return dryRun(session, baseline, start.dryRun.limit);
  const mayAdopt = start.runId === undefined && start.fresh !== true;
  const end = await makeSnapshot(session, baseline, mayAdopt);
  if (end.outcome !== "SUPERSEDED") await cleanUp(session);
  return end;
}

/** The result of a run that is finished; only a run that its trigger names can be. */
async function resultBefore(store: AccountStore, { runId }: RunStart): Promise<RunResult | undefined> {
  const finished = runId === undefined ? undefined : await readRunResult(store, runId);
  return finished && { ...finished, isRepeat: true };
}

async function cleanUp({ ports, settings: { retainDays } }: RunSession): Promise<void> {
  const { logger } = ports;
  await orWarn(logger, "lost changes could not be made again", mendChanges(ports));
  await orWarn(logger, "old snapshots could not be deleted", applyRetention(ports, retainDays));
}

/** One turn of an execution: this invocation continues the run that was handed over. */
interface Turn {
  readonly runId: string;
  /** The ARN of the execution. */
  readonly execution: string;
  /** How many turns of it are over. */
  readonly turn: number;
  /** After so many another execution follows, because the history of an execution is limited. */
  readonly maxTurns: number;
}

export interface TurnEnd {
  readonly result: RunResult;
  /** True where this execution has nothing left to do: the run is finished, or works elsewhere. */
  readonly isDone: boolean;
  /** How long the execution should wait before its next turn. */
  readonly waitSeconds: number;
}

export async function continueRun(
  ports: RunPorts,
  settings: RunSettings,
  { runId, execution, turn, maxTurns }: Turn,
): Promise<TurnEnd> {
  const trigger = await plannedTrigger(ports.store, ports.store.keys.plan(runId));
  const own = { arn: execution, isLastTurn: turn + 1 >= maxTurns };
  const result = await run(ports, settings, { trigger, runId, execution: own });
  // The invocation before may have died between the outcome and the release of the lease.
  if (result.isRepeat) await freeLeaseOf(ports, settings, execution);
  const { handedOver } = result;
  if (handedOver?.execution !== execution) return { result, isDone: true, waitSeconds: 0 };
  return { result, isDone: false, waitSeconds: Math.ceil(handedOver.waitMs / 1_000) };
}

async function freeLeaseOf(ports: RunPorts, settings: RunSettings, execution: string): Promise<void> {
  for (;;) {
    const own = await readExecutionLease(ports.store, execution);
    if (own === undefined || (await freeLease(ports, settings, own))) return;
  }
}
