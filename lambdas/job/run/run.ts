// One start of a run, from the lease to the outcome, in the order of design section 3.

import { SyncError } from "../errors/sync-error.ts";
import { readHead } from "../storage/publication-log.ts";
import { formatRunId } from "../storage/run-id.ts";
import { dryRun } from "./dry-run.ts";
import { Lease, LeaseLost } from "./lease/lease.ts";
import { leasedRateLimiter, leaseTakenEnd, takeLease } from "./lease/take-lease.ts";
import { LoginWithheld, openAccount } from "./login/open-account.ts";
import { makeSnapshot } from "./make-snapshot.ts";
import { headAsBase, wholeBase } from "./publish/base.ts";
import { refreshOver } from "./publish/refresh-catalog.ts";
import { applyRetention } from "./publish/retention.ts";
import { type AttemptEnd, recordAttempt, startNow } from "./record/record-attempt.ts";
import type { Trigger } from "./record/run-log.ts";
import { type RunResult, readRunResult } from "./record/run-result.ts";
import type { CountingService, RunPorts, RunSettings } from "./run-ports.ts";
import { NO_COUNTS, type RunEnd, type RunState } from "./run-state.ts";

export interface RunStart {
  readonly trigger: Trigger;
  /** The run's own id where a trigger gives it; a manual start makes one. */
  readonly runId?: string;
  /** Begins anew, whatever an earlier start has left. */
  readonly fresh?: boolean;
  /** Publishes although files of the head are damaged; with a whole head it changes nothing. */
  readonly overDamaged?: boolean;
  readonly dryRun?: { readonly limit: number | undefined };
}

/**
 * Makes a snapshot, or says why not. Comes back with the run's row for every outcome, `FAILED` included;
 * throws only what nobody foresaw.
 */
export async function run(ports: RunPorts, settings: RunSettings, start: RunStart): Promise<RunResult> {
  const started = startNow(ports.clock);
  const runId = start.runId ?? formatRunId(started.atMs);
  const state: RunState = { runId, snapshotId: null, counts: NO_COUNTS, service: undefined };
  ports.onRunId?.(runId);
  let lease: Lease | undefined;
  try {
    let end: AttemptEnd;
    try {
      const finished = await finishedBefore(ports, settings, start);
      if (finished) return finished;
      const taken = await takeLease(ports, settings.account, {
        runId,
        waitForOwnRun: start.runId !== undefined,
        waitForCommand: true,
      });
      lease = taken instanceof Lease ? taken : undefined;
      // A second delivery of the trigger may have waited for the first one, which has finished the run.
      const meanwhile = lease && (await finishedBefore(ports, settings, start));
      if (meanwhile) return meanwhile;
      end = taken instanceof Lease ? await work(ports, settings, start, taken, state) : leaseTakenEnd(taken);
    } catch (error) {
      end = endOf(error, ports.signal, lease);
    }
    return await recordAttempt(
      { ports, account: settings.account, trigger: start.trigger, started, state },
      end,
    );
  } finally {
    await lease?.release();
  }
}

/** The result of a run that is finished; only a run that its trigger names can be. */
async function finishedBefore(
  { store }: RunPorts,
  { account }: RunSettings,
  { runId }: RunStart,
): Promise<RunResult | undefined> {
  const finished = runId === undefined ? undefined : await readRunResult(store, account, runId);
  return finished && { ...finished, isRepeat: true };
}

/** Everything between the lease and the outcome. */
async function work(
  outer: RunPorts,
  settings: RunSettings,
  start: RunStart,
  lease: Lease,
  state: RunState,
): Promise<RunEnd> {
  const { account } = settings;
  const rateLimiter = leasedRateLimiter(lease, outer, settings);
  const mortal: RunPorts = { ...outer, signal: AbortSignal.any([outer.signal, lease.lost]) };
  const head = await readHead(mortal.store, account);
  const baseOf = start.overDamaged ? wholeBase(mortal, account) : headAsBase;
  const ports: RunPorts = { ...mortal, catalog: await refreshOver(mortal, account, head, baseOf) };
  let service: CountingService | undefined;
  const openService = async (): Promise<CountingService> => {
    const opened = await openAccount(ports, settings.account, rateLimiter, start.trigger);
    state.service = () => opened.counts;
    service = opened;
    return opened;
  };
  try {
    if (start.dryRun) {
      return await dryRun({ ports, settings, state, head, limit: start.dryRun.limit, openService, baseOf });
    }
    const mayAdopt = start.runId === undefined && start.fresh !== true;
    const adopt = async (runId: string): Promise<void> => {
      await lease.adopt(runId);
      ports.onRunId?.(runId);
    };
    const end = await makeSnapshot({
      ports,
      settings,
      state,
      head,
      mayAdopt,
      adopt,
      openService,
      baseOf,
    });
    if (end.outcome !== "SUPERSEDED") await cleanUp(ports, settings);
    return end;
  } finally {
    await service?.close();
  }
}

/** What it cannot do now, the next run does: the snapshot that was made counts. */
async function cleanUp(ports: RunPorts, { account, retainDays }: RunSettings): Promise<void> {
  try {
    await applyRetention({ ports, account, retainDays });
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    ports.logger.warn(`old snapshots could not be taken away: ${error.message}`, { error_code: error.code });
  }
}

function endOf(error: unknown, signal: AbortSignal, lease: Lease | undefined): AttemptEnd {
  if (signal.aborted && signal.reason instanceof SyncError) return { error: signal.reason };
  if (error instanceof LoginWithheld) return error.end;
  const lost = lease?.lost.reason;
  if (!(lost instanceof LeaseLost)) return { error };
  return {
    outcome: "SKIPPED",
    reason: "LEASE_LOST",
    explanation: `Another process has taken this run's work over: ${lost.message}. What was staged is kept.`,
  };
}
