// One start of a run, from the lease to the outcome, in the order of design section 3.

import { SyncError } from "../errors/sync-error.ts";
import { Budget } from "../service/budget.ts";
import { readHead } from "../storage/publication-log.ts";
import { formatRunId } from "../storage/run-id.ts";
import { attempt } from "./attempt.ts";
import { headAsBase, wholeBase } from "./base.ts";
import { closeAttempt, type Ending } from "./close-attempt.ts";
import { type Conclusion, NO_COUNTS, type RunFacts } from "./conclusion.ts";
import { dryRun } from "./dry-run.ts";
import { BUDGET_SHARE } from "./estimate.ts";
import { followOver } from "./follow.ts";
import { acquireLease, Lease, LeaseLost, type LeaseTaken } from "./lease.ts";
import { LoginWithheld, openAccount } from "./open-account.ts";
import { type RunResult, readOutcome } from "./outcome.ts";
import { applyRetention } from "./retention.ts";
import type { CountingService, RunHost, RunSettings } from "./run-host.ts";
import type { Trigger } from "./sync-run.ts";

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
export async function run(host: RunHost, settings: RunSettings, start: RunStart): Promise<RunResult> {
  const startedAtMs = host.clock.now();
  const runId = start.runId ?? formatRunId(startedAtMs);
  const facts: RunFacts = { runId, snapshotId: null, counts: NO_COUNTS, service: undefined };
  host.onRunId?.(runId);
  let lease: Lease | undefined;
  try {
    let ending: Ending;
    try {
      const finished = await finishedBefore(host, settings, start);
      if (finished) return finished;
      const taken = await takeLease(host, settings, start, runId);
      lease = taken instanceof Lease ? taken : undefined;
      // A second delivery of the trigger may have waited for the first one, which has finished the run.
      const meanwhile = lease && (await finishedBefore(host, settings, start));
      if (meanwhile) return meanwhile;
      ending =
        taken instanceof Lease ? await work(host, settings, start, taken, facts) : alreadyRunning(taken);
    } catch (error) {
      ending = endingOf(error, host.signal, lease);
    }
    return await closeAttempt(
      { host, account: settings.account, trigger: start.trigger, startedAtMs, facts },
      ending,
    );
  } finally {
    await lease?.release();
  }
}

/** The result of a run that is finished; only a run that its trigger names can be. */
async function finishedBefore(
  { store }: RunHost,
  { account }: RunSettings,
  { runId }: RunStart,
): Promise<RunResult | undefined> {
  const finished = runId === undefined ? undefined : await readOutcome(store, account, runId);
  return finished && { ...finished, isRepeat: true };
}

async function takeLease(
  host: RunHost,
  { account }: RunSettings,
  start: RunStart,
  runId: string,
): Promise<Lease | LeaseTaken> {
  const { store, clock, logger, isGone, signal } = host;
  const holder = { token: host.random.token(), ...host.process };
  const waitForOwnRun = start.runId !== undefined;
  return acquireLease({ store, account, clock, logger, holder, isGone }, { runId, waitForOwnRun, signal });
}

/** Everything between the lease and the outcome. */
async function work(
  outer: RunHost,
  settings: RunSettings,
  start: RunStart,
  lease: Lease,
  facts: RunFacts,
): Promise<Conclusion> {
  const { account } = settings;
  const mortal: RunHost = { ...outer, signal: AbortSignal.any([outer.signal, lease.lost]) };
  const head = await readHead(mortal.store, account);
  const baseOf = start.overDamaged ? wholeBase(mortal, account) : headAsBase;
  const host: RunHost = { ...mortal, catalog: await followOver(mortal, account, head, baseOf) };
  let service: CountingService | undefined;
  const openService = async (): Promise<CountingService> => {
    const budget = budgetAfter(lease, host, settings);
    const opened = await openAccount(host, settings.account, budget, start.trigger);
    lease.carry(() => budget.use());
    facts.service = () => opened.counts;
    service = opened;
    return opened;
  };
  try {
    if (start.dryRun) {
      return await dryRun({ host, settings, facts, head, limit: start.dryRun.limit, openService, baseOf });
    }
    const mayAdopt = start.runId === undefined && start.fresh !== true;
    const adopt = async (runId: string): Promise<void> => {
      await lease.adopt(runId);
      host.onRunId?.(runId);
    };
    const conclusion = await attempt({ host, settings, facts, head, mayAdopt, adopt, openService, baseOf });
    if (conclusion.outcome !== "SUPERSEDED") await tidy(host, settings);
    return conclusion;
  } finally {
    await service?.close();
  }
}

/** What it cannot do now, the next run does: the snapshot that was made counts. */
async function tidy(host: RunHost, { account, retainDays }: RunSettings): Promise<void> {
  try {
    await applyRetention({ host, account, retainDays });
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    host.logger.warn(`old snapshots could not be taken away: ${error.message}`, { error_code: error.code });
  }
}

/** A fresh budget that knows what was sent in the last window, by whoever had the lease before. */
function budgetAfter(lease: Lease, { clock }: RunHost, settings: RunSettings): Budget {
  const { requestsPerMinute, bytesPerMinute, windowMs } = settings;
  const budget = new Budget({
    requestsPerWindow: requestsPerMinute,
    bytesPerWindow: bytesPerMinute,
    windowMs,
    share: BUDGET_SHARE,
    clock,
    earlier: lease.earlier,
  });
  if (lease.crashedAtMs !== undefined) {
    // Nobody counted what it sent between its last renewal and its death: assume all that was allowed.
    const requests = requestsPerMinute === "unlimited" ? 0 : requestsPerMinute;
    const bytes = bytesPerMinute === "unlimited" ? 0 : bytesPerMinute;
    budget.add([{ atMs: lease.crashedAtMs, requests, bytes }]);
  }
  return budget;
}

function alreadyRunning({ takenBy, expiresAt }: LeaseTaken): Conclusion {
  return {
    outcome: "SKIPPED",
    reason: "LEASE_TAKEN",
    explanation: `The run ${takenBy} works on this account; its lease lasts until ${expiresAt} unless it is renewed. Start again when it has ended.`,
  };
}

function endingOf(error: unknown, signal: AbortSignal, lease: Lease | undefined): Ending {
  if (signal.aborted && signal.reason instanceof SyncError) return { error: signal.reason };
  if (error instanceof LoginWithheld) return error.conclusion;
  const lost = lease?.lost.reason;
  if (!(lost instanceof LeaseLost)) return { error };
  return {
    outcome: "SKIPPED",
    reason: "LEASE_LOST",
    explanation: `Another process has taken this run's work over: ${lost.message}. What was staged is kept.`,
  };
}
