// PLAN and COLLECT of one attempt, going on from what an earlier one has left; then PUBLISH.

import { PartialShards } from "../snapshot/staging/partial-shards.ts";
import { createPlan, type Plan } from "../snapshot/staging/plan.ts";
import { layout } from "../storage/layout.ts";
import type { Publication } from "../storage/publication-log.ts";
import { collect } from "./collect/collect.ts";
import { estimateSeconds } from "./collect/estimate.ts";
import { TimeBudget } from "./collect/time-budget.ts";
import { findAdoptable, findOwnWork, type UnfinishedRun } from "./collect/unfinished-run.ts";
import { fingerprint } from "./fingerprint.ts";
import type { BaseOf } from "./publish/base.ts";
import { checkAgainstBase } from "./publish/columns.ts";
import { publishRun, superseded } from "./publish/publish.ts";
import { countText } from "./record/count-text.ts";
import { publishedEnd, settlePublished } from "./record/published-run.ts";
import type { CountingService, RunPorts, RunSettings } from "./run-ports.ts";
import type { Conclusion, RunFacts } from "./run-state.ts";

export interface MakeSnapshotTask {
  readonly host: RunPorts;
  readonly settings: RunSettings;
  readonly facts: RunFacts;
  readonly head: Publication | undefined;
  /** True for a manual start without `--fresh`: it may go on with an unfinished run of another id. */
  readonly mayAdopt: boolean;
  readonly adopt: (runId: string) => Promise<void>;
  readonly openService: () => Promise<CountingService>;
  readonly baseOf: BaseOf;
}

/** Ends with a snapshot published or held, or with a later one in its place. Throws for everything else. */
export async function makeSnapshot(task: MakeSnapshotTask): Promise<Conclusion> {
  const { host, settings, facts, head, baseOf } = task;
  const { store } = host;
  const { account } = settings;

  const published = await publishedEnd(store, account, facts.runId);
  if (published) {
    facts.snapshotId = facts.runId;
    facts.counts = published.counts;
    return published.conclusion;
  }
  if (head && head.snapshot_id >= facts.runId) return superseded(facts.runId, head);
  await checkAgainstBase(host, settings, await baseOf(head));

  const unfinished = await findUnfinished(task);
  if (unfinished && unfinished.staged.size === unfinished.plan.shards) {
    return publishRun({ host, settings, facts, head, baseOf, plan: unfinished.plan });
  }
  const service = await task.openService();
  const work = unfinished ?? newWork(await makePlan(task, service));
  await stage(task, service, work);
  return publishRun({ host, settings, facts, head, baseOf, plan: work.plan });
}

async function findUnfinished(task: MakeSnapshotTask): Promise<UnfinishedRun | undefined> {
  const { host, settings, facts, head, mayAdopt } = task;
  const { store, clock, logger } = host;
  const { account } = settings;
  const own = await findOwnWork(store, account, facts.runId, fingerprint(settings));
  if (own || !mayAdopt) return own;
  const unfinished = await findAdoptable(store, account, {
    fingerprint: fingerprint(settings),
    head: head?.snapshot_id,
    progressSinceMs: clock.now() - settings.resumeWithinMs,
    settle: (runId) => settlePublished(host, account, runId),
  });
  if (unfinished === undefined) return undefined;
  const { plan } = unfinished;
  await task.adopt(plan.header.run_id);
  facts.runId = plan.header.run_id;
  logger.info(
    `continues ${facts.runId}, ${countText(done(unfinished))} of ${countText(plan.events.length)} done`,
  );
  return unfinished;
}

/** Lists the events and freezes the work. Where another process of this run was first, its plan stands. */
async function makePlan(task: MakeSnapshotTask, service: CountingService): Promise<Plan> {
  const { host, settings, facts } = task;
  const { store, clock, logger } = host;
  const list = await service.list(host.signal);
  const listed = list.events.length + list.rejected;
  facts.counts = { ...facts.counts, listed };
  logger.info(`${countText(listed)} events are listed`, {
    listed,
    rejected: list.rejected,
    repeated: list.repeated,
  });
  return createPlan(store, layout.plan(settings.account, facts.runId), {
    run_id: facts.runId,
    account: settings.account,
    fingerprint: fingerprint(settings),
    created_at: new Date(clock.now()).toISOString(),
    shard_size: settings.shardSize,
    rejected: list.rejected,
    repeated: list.repeated,
    events: list.events,
  });
}

async function stage(task: MakeSnapshotTask, service: CountingService, work: UnfinishedRun): Promise<void> {
  const { host, settings } = task;
  const total = work.plan.events.length;
  let doneEvents = done(work);
  const seconds = estimateSeconds(total - doneEvents, settings.requestsPerMinute);
  if (seconds > 0) {
    host.logger.info(
      `${countText(total - doneEvents)} requests at ${settings.requestsPerMinute} a minute take at least ${Math.ceil(seconds / 60)} min`,
    );
  }
  const report = (): void => host.onProgress({ done: doneEvents, total, retries: service.counts.retries });
  report();
  await collect({
    store: host.store,
    logger: host.logger,
    account: settings.account,
    work,
    service,
    concurrency: settings.concurrency,
    lifted: settings.lifted,
    signal: host.signal,
    pace: new TimeBudget(host),
    onDone: () => {
      doneEvents += 1;
      report();
    },
  });
}

function done({ plan, staged, kept }: UnfinishedRun): number {
  const isDone = (index: number, uuid: string): boolean => staged.has(index) || kept.has(uuid);
  let events = 0;
  for (let index = 0; index < plan.shards; index += 1) {
    events += plan.shard(index).filter(({ uuid }) => isDone(index, uuid)).length;
  }
  return events;
}

function newWork(plan: Plan): UnfinishedRun {
  return { plan, staged: new Set(), kept: PartialShards.none, keptFiles: 0 };
}
