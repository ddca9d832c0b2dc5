// PLAN and COLLECT of one attempt, which resumes what an earlier one has left; then PUBLISH.

import type { LiftedColumn } from "../snapshot/rows/lifted-column.ts";
import { Chain } from "../snapshot/staging/chain.ts";
import { createPlan, type Plan } from "../snapshot/staging/plan.ts";
import type { LogEnd } from "../storage/publication-log.ts";

import { SnapshotFacts } from "./build/build-snapshot.ts";
import { collect, rangeCut } from "./collect/collect.ts";
import { EstimateNotice } from "./collect/estimate.ts";
import { readList } from "./collect/read-list.ts";
import {
  findAdoptable,
  findOwnWork,
  fingerprint,
  shapeOf,
  type UnfinishedRun,
} from "./collect/unfinished-run.ts";
import type { BaseOf } from "./publish/base.ts";
import { columnsOfRun } from "./publish/columns.ts";
import { publishRun, removedSince, superseded } from "./publish/publish.ts";
import { countText } from "./record/count-text.ts";
import { publishedRun, recordPublishedRun, recordUnrecorded } from "./record/published-run.ts";
import { announceStart } from "./record/record-attempt.ts";
import type { CountingService } from "./run-ports.ts";
import type { RunSession } from "./run-session.ts";
import type { RunEnd } from "./run-state.ts";

interface MakeSnapshotTask {
  readonly session: RunSession;
  readonly end: LogEnd;
  /** True for a manual start without `--fresh`: it may continue an unfinished run with another id. */
  readonly mayAdopt: boolean;
  readonly baseOf: BaseOf;
}

/** Ends with a snapshot that is published or held, or superseded by a later one. Throws for everything else. */
export async function makeSnapshot(task: MakeSnapshotTask): Promise<RunEnd> {
  const { session, end } = task;
  const { head, removal } = end;
  const { ports, state } = session;
  const { store } = ports;

  const published = await publishedRun(store, state.runId);
  if (published) {
    state.snapshotId = state.runId;
    state.counts = published.counts;
    if (published.publication !== undefined) state.publication = published.publication;
    return published.end;
  }
  if (head) await recordUnrecorded(ports, head);
  if (head && head.snapshot_id >= state.runId) return superseded(state.runId, head);
  if (removal && removal.run_id >= state.runId) return removedSince(state.runId, removal);
  const { columns, earlier } = await columnsOfRun(ports, session.settings);

  const unfinished = await findUnfinished(task, [columns, ...earlier]);
  if (unfinished === "other-version") return ofOtherVersion(state.runId);
  if (unfinished === undefined) session.useColumns(columns);
  else session.isPlanned = true;
  const chain = unfinished && (await readChain(session, unfinished));
  if (chain?.isComplete) return publishStaged(task, chain);
  const service = await session.openService();
  const notice = new EstimateNotice(session.budget, ports.logger);
  if (chain) {
    notice.begin(chain.plan.header.events - chain.end);
    return stageAndPublish(task, chain, { service, notice });
  }
  await announceStart({ ports, runId: state.runId, trigger: session.trigger });
  const plan = await listAndPlan(session, service);
  session.isPlanned = true;
  notice.begin(plan.header.events);
  return stageAndPublish(task, Chain.begin(store, plan), { service, notice });
}

/** Where details come from, and what says how long that takes. */
interface DetailSource {
  readonly service: CountingService;
  readonly notice: EstimateNotice;
}

async function stageAndPublish(task: MakeSnapshotTask, chain: Chain, source: DetailSource): Promise<RunEnd> {
  const facts = newFacts(task.session, chain);
  await stage(task.session, source, chain, facts);
  return publishStaged(task, chain, facts);
}

function publishStaged(
  { session, end, baseOf }: MakeSnapshotTask,
  chain: Chain,
  facts = newFacts(session, chain),
): Promise<RunEnd> {
  return publishRun({ session, end, baseOf, chain, facts });
}

function newFacts({ settings }: RunSession, { plan }: Chain): SnapshotFacts {
  return new SnapshotFacts(plan.header.events, settings.require);
}

/** A start that finds it continues nothing, and leaves its files as they are. */
function ofOtherVersion(runId: string): RunEnd {
  return {
    outcome: "SKIPPED",
    reason: "OTHER_VERSION",
    explanation: `The run ${runId} was begun by another version of this program, so its staged work cannot be continued. Start a new run; it fetches all events again.`,
  };
}

/** What is staged with one of these lists of columns, which the session then uses. */
async function findUnfinished(
  task: MakeSnapshotTask,
  possible: readonly (readonly LiftedColumn[])[],
): Promise<UnfinishedRun | "other-version" | undefined> {
  const { session } = task;
  const columnsBy = new Map(
    possible.map((lifted) => [fingerprint({ ...session.settings, lifted }), lifted] as const),
  );
  const unfinished = await findWork(task, new Set(columnsBy.keys()), possible[0] ?? []);
  if (typeof unfinished !== "object") return unfinished;
  const columns = columnsBy.get(unfinished.plan.header.fingerprint);
  if (columns) session.useColumns(columns);
  return unfinished;
}

async function findWork(
  { session, end, mayAdopt }: MakeSnapshotTask,
  fingerprints: ReadonlySet<string>,
  lifted: readonly LiftedColumn[],
): Promise<UnfinishedRun | "other-version" | undefined> {
  const { ports, settings } = session;
  const { store, clock } = ports;
  const own = await findOwnWork(store, session.state.runId, fingerprints);
  if (own || !mayAdopt) return own;
  const unfinished = await findAdoptable(store, {
    fingerprints,
    after: end.head?.snapshot_id ?? end.removal?.run_id,
    progressSinceMs: clock.now() - settings.resumeWithinMinutes * 60_000,
    settle: (runId) => recordPublishedRun(ports, runId),
    onPassedOver: (why) => ports.logger.info(why),
    settings: { ...settings, lifted },
  });
  if (unfinished === undefined) return undefined;
  await session.adopt(unfinished.plan.header.run_id);
  return unfinished;
}

/** Says what is done where this start has adopted the run. */
async function readChain({ ports, state }: RunSession, { plan, files }: UnfinishedRun): Promise<Chain> {
  const chain = await Chain.read(ports.store, plan, files);
  ports.logger.info(
    `continues ${state.runId}, ${countText(chain.end)} of ${countText(plan.header.events)} done`,
  );
  return chain;
}

/** Freezes the work. A plan that another process of this run wrote first is used as it is. */
async function listAndPlan(session: RunSession, service: CountingService): Promise<Plan> {
  const { ports, settings, state } = session;
  const { store, clock, logger } = ports;
  const { events, rejected, repeated, readings, unstable } = await readList(session, service);
  const listed = events.length + rejected;
  state.counts = { ...state.counts, listed, repeated };
  logger.info(`${countText(listed)} events are listed`, { listed, rejected, repeated });
  return createPlan(store, store.keys.plan(state.runId), {
    run_id: state.runId,
    account: settings.account,
    trigger: session.trigger === "schedule" ? "schedule" : "manual",
    fingerprint: fingerprint(settings),
    shape: shapeOf(settings),
    created_at: new Date(clock.now()).toISOString(),
    rejected,
    repeated,
    readings,
    unstable,
    events,
  });
}

/** Stages what is missing. */
async function stage(
  session: RunSession,
  { service, notice }: DetailSource,
  chain: Chain,
  facts: SnapshotFacts,
): Promise<void> {
  const { ports, settings, budget } = session;
  const total = chain.plan.header.events;
  const cut = rangeCut(total, budget.waitMs(total - chain.end));
  const report = (done: number): void => ports.onProgress({ done, total, retries: service.counts.retries });
  let done = chain.end;
  report(done);
  await collect({
    ports,
    logger: ports.logger,
    chain,
    service,
    concurrency: settings.concurrency,
    lifted: settings.lifted,
    signal: ports.signal,
    timeBudget: session.timeBudget(),
    cut: { ...cut, events: Math.min(cut.events, settings.rangeEvents ?? cut.events) },
    beforeRecord: () => session.heldLease.confirm(),
    onRow: (place, row, event) => facts.add(place, row, event),
    onDone: () => {
      done += 1;
      notice.done(total - done);
      report(done);
    },
    onRecorded: (place) => {
      session.hasAdvanced = true;
      facts.markCounted(place);
    },
    onLost: () => {
      facts.beginAgain();
      done = chain.end;
    },
  });
}
