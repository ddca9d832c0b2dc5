// One start of a run, from the lease to the outcome: PLAN and COLLECT, which resume what an earlier start has left, and
// PUBLISH. And one turn of an execution, which continues a run.

import { isMistake } from "../errors/sync-error.ts";
import type { EventService } from "../service/event-service.ts";
import { Chain } from "../snapshot/staging/chain.ts";
import { createPlan, hasPlan, type Plan, plannedTrigger } from "../snapshot/staging/plan.ts";
import { markOf, placeOf } from "../storage/log-mark.ts";
import { type LogEnd, readLogSince } from "../storage/publication-log.ts";
import type { AccountStore } from "../storage/store.ts";
import { type CollectTask, collect, rangeCut } from "./collect/collect.ts";
import { readList } from "./collect/read-list.ts";
import { sayEstimate } from "./collect/time-budget.ts";
import { findUnfinished, shapeOfPlan } from "./collect/unfinished-run.ts";
import { dryRun } from "./dry-run.ts";
import { handOver, mayTakeOver, type OwnExecution } from "./hand-over/hand-over.ts";
import { acquireLease } from "./lease/acquire-lease.ts";
import { Lease } from "./lease/lease.ts";
import { freeLease, readExecutionLease, runOfRequest } from "./lease/lease-file.ts";
import { SnapshotFacts } from "./publish/build-snapshot.ts";
import { columnsOfRun } from "./publish/columns.ts";
import { knownRefusals } from "./publish/guard.ts";
import { publishRun } from "./publish/publish.ts";
import { applyRetention, isFirstOfDay } from "./publish/retention.ts";
import { removedBy, supersededBeforePlan, supersededPlan } from "./publish/superseded.ts";
import { type Attempt, beginAttempt, recordAttempt, unrecordedFailure } from "./record/attempt.ts";
import { publishedRun, recordUnrecorded } from "./record/published-run.ts";
import { attemptsOf, type Trigger } from "./record/run-log.ts";
import { endOf, orWarn, type RunEnd, type RunResult, readRunResult } from "./record/run-result.ts";
import { countText } from "./record/texts.ts";
import type { RunHooks, RunPorts, WarehousePorts, WorldPorts } from "./run-ports.ts";
import { RunSession } from "./run-session.ts";
import type { RunSettings } from "./run-settings.ts";

export interface RunStart {
  readonly trigger: Trigger;
  /** The run's own id where a trigger gives it; a manual start makes one. */
  readonly runId?: string;
  /** Starts from the beginning, whatever an earlier start has left. */
  readonly fresh?: boolean;
  /**
   * A restart: publishes although files that readers see are damaged, and every event is `added`. It continues no run that
   * began otherwise.
   */
  readonly overDamaged?: boolean | undefined;
  readonly dryRun?: { readonly limit: number | undefined };
  /** The execution that this start works for; it names its run. */
  readonly execution?: OwnExecution;
}

/**
 * Makes a snapshot, or says why not. Returns the run's row for every outcome, `FAILED` included; throws only what is
 * no `SyncError`.
 */
export async function run(ports: RunPorts, settings: RunSettings, start: RunStart): Promise<RunResult> {
  const attempt = beginAttempt(ports.clock, start.trigger, start.runId, start.dryRun !== undefined);
  ports.onRunId?.(attempt.runId);
  const begun = await begin(ports, settings, start, attempt.runId).catch((error: unknown) =>
    endOf(ports.signal.reason ?? error),
  );
  if ("row" in begun) return begun;
  // A start without the lease records its attempt; no error of it finishes the run.
  if (!(begun instanceof Lease)) return recordAttempt(ports, attempt, begun, null);

  const session = new RunSession(ports, settings, attempt, begun, start);
  try {
    const end = await work(session, start)
      .catch((error: unknown) => handOver(session, error, start.execution))
      .catch((error: unknown) => session.endOf(error));
    if ("row" in end) return end;
    // What a person at a terminal has mistyped is told there, and says nothing of the account.
    if (
      ports.isUnattended === false &&
      attempt.publication === undefined &&
      "error" in end &&
      isMistake(end.error)
    )
      return unrecordedFailure(ports, attempt, end.error);
    const result = session.withClock(await recordAttempt(ports, attempt, end, session.ports.store));
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
  const { store, executions } = ports;
  const requestId = start.runId === undefined ? ports.requestId : undefined;
  const finished = await resultBefore(store, start.runId ?? (await runOfRequest(store, requestId)));
  if (finished) return finished;
  const execution = start.execution?.arn;
  return acquireLease(ports, {
    runId,
    execution,
    requestId,
    limits: settings,
    mayTakeOver:
      executions && ((other) => mayTakeOver(ports, executions, settings, other, execution !== undefined)),
    waitForOwnRun: start.runId !== undefined,
  });
}

/** How the attempt ended, or the recorded result of a run that is finished. */
async function work(session: RunSession, start: RunStart): Promise<RunEnd | RunResult> {
  const { ports } = session;
  // A second delivery of the trigger may have waited for the first one, which has finished the run.
  const meanwhile = await resultBefore(ports.store, start.runId);
  if (meanwhile) return meanwhile;

  const end = await session.openWarehouse();
  if (start.dryRun) return dryRun(session, end, start.dryRun.limit);
  const made = await unlessRemoved(session, end, () => makeSnapshot(session, end, start));
  if (made.outcome !== "SUPERSEDED")
    await orWarn(ports.logger, "old snapshots could not be deleted", tidyOnceADay(session));
  return made;
}

async function tidyOnceADay({ ports, attempt, settings }: RunSession): Promise<void> {
  if (await isFirstOfDay(ports.store, attempt.runId)) await applyRetention(ports, settings.retainDays);
}

/**
 * This process may have been stopped while the account was removed: then the run never counts, whatever it came to, and is
 * taken out of the tables again.
 */
async function unlessRemoved(
  { ports: { store, catalog }, attempt }: RunSession,
  { last }: LogEnd,
  work: () => Promise<RunEnd>,
): Promise<RunEnd> {
  const end = await work().catch((error: unknown) => ({ error }));
  const { runId, publication } = attempt;
  const findRemoval = async (): Promise<RunEnd | undefined> => {
    const { removal } = await readLogSince(store, last);
    if (removal === undefined) return undefined;
    await catalog.refresh(store.account);
    return removedBy(removal, runId);
  };
  const removed = publication ? undefined : await findRemoval().catch(() => undefined);
  if (removed) return removed;
  if ("error" in end) throw end.error;
  return end;
}

/** The result of a run that is finished: only one that its trigger or its request names can be. */
async function resultBefore(store: AccountStore, runId: string | undefined): Promise<RunResult | undefined> {
  const finished = runId === undefined ? undefined : await readRunResult(store, runId);
  return finished && { ...finished, isRepeat: true };
}

/**
 * Ends with a snapshot that is published or held, or superseded by a later one. Throws for everything else.
 * A manual start without `--fresh` may continue an unfinished run with another id.
 */
async function makeSnapshot(
  session: RunSession,
  end: LogEnd,
  { runId, fresh }: Pick<RunStart, "runId" | "fresh">,
): Promise<RunEnd> {
  const { ports, attempt } = session;
  const { store } = ports;
  const mayAdopt = runId === undefined && fresh !== true;

  const published = await publishedRun(store, attempt.runId);
  if (published) {
    attempt.snapshotId = attempt.runId;
    attempt.counts = published.counts;
    attempt.doubt = published.doubt;
    attempt.publication = published.publication;
    return published.end;
  }
  if (end.head) await recordUnrecorded(ports, end.head);
  const superseded = supersededBeforePlan(end, attempt.runId, ports.clock.now());
  if (superseded && !(await hasPlan(store, attempt.runId))) return superseded;
  const { columns, earlier } = await columnsOfRun(ports, session.settings);

  const staged = await findUnfinished(session, end, mayAdopt, [columns, ...earlier]);
  if (staged === undefined) session.useColumns(columns);
  attempt.doubt = staged?.plan.header.doubt;
  const place = staged ? await placeOf(store, staged.plan.header.log_end) : end.last;
  const later = staged && (await supersededPlan(store, end.head, staged.plan.header));
  if (later) return later;
  const facts = new SnapshotFacts(session.settings.require);
  if (staged?.isComplete) return publishRun({ session, end, place, chain: staged, facts });
  const service = await session.openService();
  const chain = staged ?? new Chain(store, await listAndPlan(session, service, end));
  await stage(session, service, { chain, facts, known: await knownRefusals(store, end.head) });
  return publishRun({ session, end, place, chain, facts });
}

/** Freezes the work. A plan that another process of this run wrote first is used as it is. */
async function listAndPlan(session: RunSession, service: EventService, end: LogEnd): Promise<Plan> {
  const { ports, settings, attempt, overDamaged } = session;
  const { store, clock, logger } = ports;
  await announceStart(ports, attempt);
  const { events, rejected, repeated, doubt, readings, unstable } = await readList(session, service);
  const listed = events.length + rejected;
  attempt.counts = { ...attempt.counts, listed, repeated };
  logger.info(`${countText(listed)} events are listed`, { listed, rejected, repeated });
  const plan = await createPlan(store, store.keys.plan(attempt.runId), {
    run_id: attempt.runId,
    account: store.account,
    trigger: attempt.trigger === "schedule" ? "schedule" : "manual",
    ...(overDamaged ? { restart: true } : {}),
    log_end: markOf(end),
    ...shapeOfPlan(store.account, settings),
    created_at: new Date(clock.now()).toISOString(),
    ...{ rejected, repeated, readings, unstable, events },
    ...(doubt ? { doubt } : {}),
  });
  session.isPlanned = true;
  attempt.doubt = plan.header.doubt;
  return plan;
}

/**
 * Called by an attempt that has the lease, has opened the service, and found no plan of its run. Says nothing where an
 * earlier attempt of the run came as far: its line of the run log has requests.
 */
async function announceStart(
  { store, clock, onStarted }: WorldPorts & WarehousePorts & RunHooks,
  { runId, trigger }: Attempt,
): Promise<void> {
  if (onStarted === undefined) return;
  for await (const { requests } of attemptsOf(store, runId)) if (requests !== null) return;
  await onStarted({ runId, trigger, startedAtMs: clock.now() });
}

/** Stages what is missing. */
async function stage(
  session: RunSession,
  service: EventService,
  task: Pick<CollectTask, "chain" | "facts" | "known">,
): Promise<void> {
  const { ports, settings, budget } = session;
  const { chain } = task;
  const total = chain.plan.header.events;
  const left = total - chain.end;
  const sayLeft = sayEstimate(left, budget, ports);
  const report = (done: number): void => ports.onProgress({ done, total, retries: service.counts.retries });
  report(chain.end);
  const { events, ms } = rangeCut(total, budget.waitMs(left));
  const cut = { events: Math.min(events, settings.rangeEvents ?? events), ms };
  const onDone = (done: number): void => {
    sayLeft(total - done);
    report(done);
  };
  await collect(session, { ...task, service, cut, onDone });
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
  const trigger = await plannedTrigger(ports.store, runId);
  const own = { arn: execution, isLastTurn: turn + 1 >= maxTurns };
  const result = {
    ...(await run(ports, settings, { trigger, runId, execution: own })),
    isTurn: true,
  } as const;
  // The invocation before may have died between the outcome and the release of the lease.
  if (result.isRepeat) await freeLeaseOf(ports, settings, execution);
  const { handedOver } = result;
  if (handedOver?.execution !== execution) return { result, isDone: true, waitSeconds: 0 };
  return { result, isDone: false, waitSeconds: Math.ceil(handedOver.waitMs / 1_000) };
}

async function freeLeaseOf(
  ports: WorldPorts & WarehousePorts,
  settings: RunSettings,
  execution: string,
): Promise<void> {
  for (;;) {
    const own = await readExecutionLease(ports.store, execution);
    if (own === undefined || (await freeLease(ports, settings, own))) return;
  }
}
