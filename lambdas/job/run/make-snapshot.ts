// PLAN and COLLECT of one attempt, which resumes what an earlier one has left; then PUBLISH.

import type { LiftedColumn } from "../snapshot/rows/lifted-column.ts";
import type { Publication } from "../storage/publication-log.ts";
import { BuildAhead } from "./build/build-ahead.ts";
import { collect } from "./collect/collect.ts";
import { EstimateNotice } from "./collect/estimate-notice.ts";
import { type DetailSource, listAndPlan } from "./collect/list-and-plan.ts";
import {
  eventsDone,
  findAdoptable,
  findOwnWork,
  newWork,
  type UnfinishedRun,
} from "./collect/unfinished-run.ts";
import { fingerprint } from "./fingerprint.ts";
import type { BaseOf } from "./publish/base.ts";
import { columnsOfRun } from "./publish/columns-of-run.ts";
import { publishRun, superseded } from "./publish/publish.ts";
import { announceStart } from "./record/announce-start.ts";
import { countText } from "./record/count-text.ts";
import { publishedRun, recordPublishedRun, recordUnrecorded } from "./record/published-run.ts";
import type { RunSession } from "./run-session.ts";
import type { RunEnd } from "./run-state.ts";

export interface MakeSnapshotTask {
  readonly session: RunSession;
  readonly head: Publication | undefined;
  /** True for a manual start without `--fresh`: it may continue an unfinished run with another id. */
  readonly mayAdopt: boolean;
  readonly baseOf: BaseOf;
}

/** Ends with a snapshot that is published or held, or superseded by a later one. Throws for everything else. */
export async function makeSnapshot(task: MakeSnapshotTask): Promise<RunEnd> {
  const { session, head, baseOf } = task;
  const { ports, state } = session;
  const { store } = ports;
  const { account } = session.settings;

  const published = await publishedRun(store, account, state.runId);
  if (published) {
    state.snapshotId = state.runId;
    state.counts = published.counts;
    if (published.publication !== undefined) state.publication = published.publication;
    return published.end;
  }
  if (head) await recordUnrecorded(ports, account, head);
  if (head && head.snapshot_id >= state.runId) return superseded(state.runId, head);
  const { columns, earlier } = await columnsOfRun(ports, session.settings, await baseOf(head));

  const unfinished = await findUnfinished(task, [columns, ...earlier]);
  if (unfinished === undefined) session.useColumns(columns);
  if (unfinished) session.isPlanned = true;
  if (unfinished && unfinished.staged.size === unfinished.plan.shards)
    return buildAndPublish(task, unfinished);
  const service = await session.openService();
  const notice = new EstimateNotice(session.budget, ports.logger);
  if (unfinished) {
    notice.begin(unfinished.plan.header.events - eventsDone(unfinished));
    return buildAndPublish(task, unfinished, { service, notice });
  }
  await announceStart({ ports, account, runId: state.runId, trigger: session.trigger });
  const { plan, first } = await listAndPlan(session, { service, notice });
  await using _ = first;
  session.isPlanned = true;
  return await buildAndPublish(task, newWork(plan), { service: first, notice });
}

/** @param source where something is still to be collected */
async function buildAndPublish(
  { session, head, baseOf }: MakeSnapshotTask,
  work: UnfinishedRun,
  source?: DetailSource,
): Promise<RunEnd> {
  const { ports, settings } = session;
  const { plan } = work;
  // A process with a time limit may stop before the end, and the next one would do all of this again.
  const isAhead = ports.timeLeftMs === undefined;
  const build = await BuildAhead.open({ ports, settings, plan, base: await baseOf(head), isAhead }, work);
  try {
    if (source) await stage(session, source, work, build);
    return await publishRun({ session, head, baseOf, plan, build });
  } catch (error) {
    await build.stop(error);
    throw error;
  }
}

/** What is staged with one of these lists of columns, which the session then uses. */
async function findUnfinished(
  task: MakeSnapshotTask,
  possible: readonly (readonly LiftedColumn[])[],
): Promise<UnfinishedRun | undefined> {
  const { session } = task;
  const columnsBy = new Map(
    possible.map((lifted) => [fingerprint({ ...session.settings, lifted }), lifted] as const),
  );
  const unfinished = await findWork(task, new Set(columnsBy.keys()));
  const columns = unfinished && columnsBy.get(unfinished.plan.header.fingerprint);
  if (columns) session.useColumns(columns);
  return unfinished;
}

async function findWork(
  { session, head, mayAdopt }: MakeSnapshotTask,
  fingerprints: ReadonlySet<string>,
): Promise<UnfinishedRun | undefined> {
  const { ports, settings, state } = session;
  const { store, clock, logger } = ports;
  const { account } = settings;
  const own = await findOwnWork(store, account, state.runId, fingerprints);
  if (own || !mayAdopt) return own;
  const unfinished = await findAdoptable(store, account, {
    fingerprints,
    head: head?.snapshot_id,
    progressSinceMs: clock.now() - settings.resumeWithinMinutes * 60_000,
    settle: (runId) => recordPublishedRun(ports, account, runId),
  });
  if (unfinished === undefined) return undefined;
  const { plan } = unfinished;
  await session.adopt(plan.header.run_id);
  logger.info(
    `continues ${state.runId}, ${countText(eventsDone(unfinished))} of ${countText(plan.header.events)} done`,
  );
  return unfinished;
}

async function stage(
  session: RunSession,
  { service, notice }: DetailSource,
  work: UnfinishedRun,
  build: BuildAhead,
): Promise<void> {
  const { ports, settings } = session;
  const total = work.plan.header.events;
  let doneEvents = eventsDone(work);
  const report = (): void => ports.onProgress({ done: doneEvents, total, retries: service.counts.retries });
  report();
  await collect({
    store: ports.store,
    logger: ports.logger,
    account: settings.account,
    work,
    service,
    concurrency: settings.concurrency,
    lifted: settings.lifted,
    signal: ports.signal,
    timeBudget: session.timeBudget(),
    beforeShard: () => session.confirmLease(),
    onDone: () => {
      session.hasAdvanced = true;
      doneEvents += 1;
      notice.done(total - doneEvents);
      report();
    },
    build,
  });
}
