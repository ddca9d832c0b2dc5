// PLAN and COLLECT of one attempt, going on from what an earlier one has left; then PUBLISH.

import { createPlan, type Plan } from "../snapshot/plan.ts";
import { layout } from "../storage/layout.ts";
import type { Publication } from "../storage/publication-log.ts";
import { collect } from "./collect.ts";
import { checkAgainstHead } from "./columns.ts";
import type { Conclusion, RunFacts } from "./conclusion.ts";
import { estimateSeconds } from "./estimate.ts";
import { fingerprint } from "./fingerprint.ts";
import { Pace } from "./pace.ts";
import { publishRun, superseded } from "./publish.ts";
import { publishedEnd, settlePublished } from "./published-run.ts";
import { findAdoptable, findOwnWork, type Unfinished } from "./resume.ts";
import type { CountingService, RunHost, RunSettings } from "./run-host.ts";

export interface AttemptTask {
  readonly host: RunHost;
  readonly settings: RunSettings;
  readonly facts: RunFacts;
  readonly head: Publication | undefined;
  /** True for a manual start without `--fresh`: it may go on with an unfinished run of another id. */
  readonly mayAdopt: boolean;
  readonly adopt: (runId: string) => Promise<void>;
  readonly openService: () => Promise<CountingService>;
}

/** Ends with a snapshot published or held, or with a later one in its place. Throws for everything else. */
export async function attempt(task: AttemptTask): Promise<Conclusion> {
  const { host, settings, facts, head } = task;
  const { store } = host;
  const { account } = settings;

  const published = await publishedEnd(store, account, facts.runId);
  if (published) {
    facts.snapshotId = facts.runId;
    facts.counts = published.counts;
    return published.conclusion;
  }
  if (head && head.snapshot_id >= facts.runId) return superseded(facts.runId, head);
  await checkAgainstHead(host, settings, head);

  const unfinished = await findUnfinished(task);
  if (unfinished && unfinished.staged.size === unfinished.plan.shards) {
    return publishRun({ host, settings, facts, head, plan: unfinished.plan });
  }
  const service = await task.openService();
  const plan = unfinished?.plan ?? (await makePlan(task, service));
  await stage(task, service, plan, unfinished?.staged ?? new Set());
  return publishRun({ host, settings, facts, head, plan });
}

async function findUnfinished(task: AttemptTask): Promise<Unfinished | undefined> {
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
  logger.info(`continues ${facts.runId}, ${count(done(unfinished))} of ${count(plan.events.length)} done`);
  return unfinished;
}

/** Lists the events and freezes the work. Where another process of this run was first, its plan stands. */
async function makePlan(task: AttemptTask, service: CountingService): Promise<Plan> {
  const { host, settings, facts } = task;
  const { store, clock, logger } = host;
  const list = await service.list(host.signal);
  const listed = list.events.length + list.rejected;
  facts.counts = { ...facts.counts, listed };
  logger.info(`${count(listed)} events are listed`, {
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

async function stage(
  task: AttemptTask,
  service: CountingService,
  plan: Plan,
  staged: ReadonlySet<number>,
): Promise<void> {
  const { host, settings } = task;
  const total = plan.events.length;
  let doneEvents = done({ plan, staged });
  const seconds = estimateSeconds(total - doneEvents, settings.requestsPerMinute);
  if (seconds > 0) {
    host.logger.info(
      `${count(total - doneEvents)} requests at ${settings.requestsPerMinute} a minute take at least ${Math.ceil(seconds / 60)} min`,
    );
  }
  const report = (): void => host.onProgress({ done: doneEvents, total, retries: service.counts.retries });
  report();
  await collect({
    store: host.store,
    account: settings.account,
    plan,
    staged,
    service,
    concurrency: settings.concurrency,
    lifted: settings.lifted,
    signal: host.signal,
    pace: new Pace(host),
    onDone: () => {
      doneEvents += 1;
      report();
    },
  });
}

/** `50,000`. */
function count(n: number): string {
  return n.toLocaleString("en-US");
}

function done({ plan, staged }: Unfinished): number {
  return [...staged].reduce((sum, index) => sum + plan.shard(index).length, 0);
}
