// PLAN and COLLECT of one attempt, which resumes what an earlier one has left; then PUBLISH.

import { Chain } from "../snapshot/staging/chain.ts";
import { createPlan, type Plan } from "../snapshot/staging/plan.ts";

import { SnapshotFacts } from "./build/build-snapshot.ts";
import { collect, rangeCut } from "./collect/collect.ts";
import { sayEstimate } from "./collect/estimate.ts";
import { readList } from "./collect/read-list.ts";
import { findUnfinished, shapeOfPlan } from "./collect/unfinished-run.ts";
import { columnsOfRun } from "./publish/columns.ts";
import { publishRun, removedSince, superseded } from "./publish/publish.ts";
import type { Attempt } from "./record/attempt.ts";
import { countText } from "./record/count-text.ts";
import { publishedRun, recordUnrecorded } from "./record/published-run.ts";
import { attemptsOf } from "./record/run-log.ts";
import type { RunEnd } from "./record/run-result.ts";
import type { CountingService, RunPorts } from "./run-ports.ts";
import type { Baseline, RunSession } from "./run-session.ts";

/**
 * Ends with a snapshot that is published or held, or superseded by a later one. Throws for everything else.
 * @param mayAdopt true for a manual start without `--fresh`: it may continue an unfinished run with another id
 */
export async function makeSnapshot(
  session: RunSession,
  baseline: Baseline,
  mayAdopt: boolean,
): Promise<RunEnd> {
  const { end } = baseline;
  const { head, removal } = end;
  const { ports, attempt } = session;
  const { store } = ports;

  const published = await publishedRun(store, attempt.runId);
  if (published) {
    attempt.snapshotId = attempt.runId;
    attempt.counts = published.counts;
    attempt.publication = published.publication;
    return published.end;
  }
  if (head) await recordUnrecorded(ports, head);
  if (head && head.snapshot_id >= attempt.runId) return superseded(attempt.runId, head);
  if (removal && removal.run_id >= attempt.runId) return removedSince(attempt.runId, removal);
  const { columns, earlier } = await columnsOfRun(ports, session.settings);

  const staged = await findUnfinished(session, end, mayAdopt, [columns, ...earlier]);
  if (staged === "other-version") return ofOtherVersion(attempt.runId);
  if (staged === undefined) session.useColumns(columns);
  const factsOf = ({ plan }: Chain): SnapshotFacts =>
    new SnapshotFacts(plan.header.events, session.settings.require);
  if (staged?.isComplete) return publishRun({ session, ...baseline, chain: staged, facts: factsOf(staged) });
  const service = await session.openService();
  const chain = staged ?? new Chain(store, await listAndPlan(session, service));
  const facts = factsOf(chain);
  await stage(session, service, chain, facts);
  return publishRun({ session, ...baseline, chain, facts });
}

/** A start that finds it continues nothing, and leaves its files as they are. */
function ofOtherVersion(runId: string): RunEnd {
  return {
    outcome: "SKIPPED",
    reason: "OTHER_VERSION",
    explanation: `The run ${runId} was begun by another version of this program, so its staged work cannot be continued. Start a new run; it fetches all events again.`,
  };
}

/** Freezes the work. A plan that another process of this run wrote first is used as it is. */
async function listAndPlan(session: RunSession, service: CountingService): Promise<Plan> {
  const { ports, settings, attempt } = session;
  const { store, clock, logger } = ports;
  await announceStart(ports, attempt);
  const { events, rejected, repeated, readings, unstable } = await readList(session, service);
  const listed = events.length + rejected;
  attempt.counts = { ...attempt.counts, listed, repeated };
  logger.info(`${countText(listed)} events are listed`, { listed, rejected, repeated });
  const plan = await createPlan(store, store.keys.plan(attempt.runId), {
    run_id: attempt.runId,
    account: settings.account,
    trigger: attempt.trigger === "schedule" ? "schedule" : "manual",
    ...shapeOfPlan(settings),
    created_at: new Date(clock.now()).toISOString(),
    ...{ rejected, repeated, readings, unstable, events },
  });
  session.isPlanned = true;
  return plan;
}

/**
 * Called by an attempt that has the lease, has opened the service, and found no plan of its run. Says nothing where an
 * earlier attempt of the run came as far: its line of the run log has requests.
 */
async function announceStart(
  { store, clock, onStarted }: Pick<RunPorts, "store" | "clock" | "onStarted">,
  { runId, trigger }: Attempt,
): Promise<void> {
  if (onStarted === undefined) return;
  for await (const { requests } of attemptsOf(store, runId)) if (requests !== null) return;
  await onStarted({ runId, trigger, startedAtMs: clock.now() });
}

/** Stages what is missing. */
async function stage(
  session: RunSession,
  service: CountingService,
  chain: Chain,
  facts: SnapshotFacts,
): Promise<void> {
  const { ports, settings, budget } = session;
  const total = chain.plan.header.events;
  const left = total - chain.end;
  const sayLeft = sayEstimate(left, budget, ports.logger);
  const report = (done: number): void => ports.onProgress({ done, total, retries: service.counts.retries });
  report(chain.end);
  const { events, ms } = rangeCut(total, budget.waitMs(left));
  const cut = { events: Math.min(events, settings.rangeEvents ?? events), ms };
  const onDone = (done: number): void => {
    sayLeft(total - done);
    report(done);
  };
  await collect(session, { service, chain, facts, cut, onDone });
}
