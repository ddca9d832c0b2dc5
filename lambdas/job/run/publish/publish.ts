// PUBLISH: from staged ranges to the snapshot that readers see, or to one that is held.

import { advise, command } from "../../errors/advice.ts";
import type { Manifest } from "../../snapshot/files/manifest.ts";
import type { Chain } from "../../snapshot/staging/chain.ts";
import type { Publication } from "../../storage/publication.ts";
import { isOfRun, type LogEnd, readHead, readLogSince } from "../../storage/publication-log.ts";
import { countsOf } from "../record/attempt.ts";
import { type Hold, type HoldFacts, hold, readHold } from "../record/held-mark.ts";
import { publishedEnd, restartText } from "../record/published-run.ts";
import { type RunEnd, readRunResult } from "../record/run-result.ts";
import { unstableText } from "../record/texts.ts";
import type { RunSession } from "../run-session.ts";
import { buildSnapshot, type SnapshotFacts } from "./build-snapshot.ts";
import { commit } from "./commit.ts";
import { logEmptyColumns } from "./empty-columns.ts";
import { guard, knownRefusals } from "./guard.ts";
import { makePreview } from "./preview.ts";
import { supersededBy } from "./superseded.ts";

interface PublishTask {
  readonly session: RunSession;
  /** Where the log ended when the start began. No publication up to it is this run's. */
  readonly end: LogEnd;
  /** The number where the log ended when the run was planned; undefined where that is not known. */
  readonly place: string | undefined;
  /** All of the plan is staged. */
  readonly chain: Chain;
  /** The facts of the ranges that this process has fetched. */
  readonly facts: SnapshotFacts;
}

/** A comparison reads each row that differs, of a first snapshot all: so long each, in milliseconds, on a slow machine. */
const COMPARE_MS = 0.05;

/** The last phase of a run. Where a snapshot of the run is published already, that publication counts. */
export async function publishRun(task: PublishTask): Promise<RunEnd> {
  const { session, chain, facts } = task;
  const { ports, attempt } = session;
  const { store, clock } = ports;
  const isRestart = chain.plan.header.restart === true;
  const manifest = await buildSnapshot(session, chain, facts);
  attempt.snapshotId = manifest.snapshot_id;
  attempt.counts = countsOf(manifest);

  const action = { action: "run", run_id: manifest.run_id, pinned: false } as const;
  const published = await commit(
    ports,
    manifest,
    action,
    task.end,
    (head) => decide(task, manifest, head),
    isRestart,
  );
  if ("later" in published) return published.later;
  if ("holding" in published) {
    await hold(store, manifest.snapshot_id, published.holding, clock.now());
    await logEmptyColumns(ports, manifest, (await readHead(store))?.snapshot_id ?? null);
    return held(manifest, published.holding, isRestart);
  }
  const publication = "own" in published ? published.own : published;
  attempt.publication = publication.publication;
  attempt.counts = countsOf(manifest, publication);
  await ports.catalog.refresh(store.account, "new");
  await logEmptyColumns(ports, manifest, publication.base_snapshot_id);
  const end = await publishedEnd(store, publication);
  const { header } = chain.plan;
  if (header.unstable === 0) return end;
  const explanation = [unstableText(header), end.explanation ?? []].flat();
  return { ...end, explanation: explanation.join(" ") };
}

type Decision = { readonly own: Publication } | { readonly later: RunEnd } | { readonly holding: Hold };

/**
 * Decides by the head of this moment: the head at the start may be outdated. One publication at most carries this run,
 * whichever process wrote it, so that is checked before anything else.
 */
async function decide(
  task: PublishTask,
  manifest: Manifest,
  head: Publication | undefined,
): Promise<Decision | undefined> {
  const { session, end, place } = task;
  const { ports } = session;
  const { run_id: runId, snapshot_id: snapshotId } = manifest;
  // A process that has lost the lease may have finished the run as failed.
  const finished = await readRunResult(ports.store, runId);
  const since = await readLogSince(ports.store, end.last);
  const own = since.publications.find(isOfRun(runId));
  if (own) return { own };
  if (finished?.error) throw finished.error;
  const later = supersededBy(head, { id: snapshotId, place });
  if (later) return { later };
  const mark = await readHold(ports.store, snapshotId);
  if (mark) return { holding: mark };
  const facts = (await guardAgainst(task, manifest, head)) ?? (head?.pinned ? pinnedBy(head) : undefined);

  // Comparing with the head reads the rows of both.
  const { events } = manifest.counts;
  const compareMs = (events + (head?.events ?? 0)) * COMPARE_MS;
  session.timeBudget.checkTime(`the snapshot of ${events} events is made`, compareMs);
  if (facts) {
    const preview = await makePreview(ports, manifest, head);
    // Comparing takes time, and readers may see another snapshot by now.
    const now = await readHead(ports.store);
    if (now?.publication !== head?.publication) return decide(task, manifest, now);
    return { holding: { reason: facts.reason, explanation: ports.words.hold(facts), facts, preview } };
  }
  return undefined;
}

async function guardAgainst(
  { session, chain, facts }: PublishTask,
  manifest: Manifest,
  head: Publication | undefined,
): Promise<HoldFacts | undefined> {
  const { readings, unstable } = chain.plan.header;
  const { incomplete } = facts;
  const { counts } = manifest;
  const isUnconfirmed = chain.records.some(({ unconfirmed }) => unconfirmed);
  const { uuids, accepted } = await knownRefusals(session.ports.store, head);
  const newlyUnreadable = chain.records
    .flatMap(({ left_out }) => left_out)
    .filter(({ uuid, reason }) => reason === "unreadable" && !uuids.has(uuid))
    .map(({ uuid }) => uuid);
  const ofHead = { headEvents: head?.events, accepted, newlyUnreadable };
  return guard({ ...counts, ...ofHead, incomplete, readings, unstable, isUnconfirmed }, session.settings);
}

function held(
  { snapshot_id: snapshotId, counts }: Manifest,
  { reason, explanation, facts, preview }: Hold,
  isRestart: boolean,
): RunEnd {
  const accept = command("accept", { snapshotId, decision: "overDamaged" });
  return {
    outcome: "HELD",
    reason,
    explanation,
    next: isRestart ? advise`${accept} is a ${restartText(counts.events)}.` : [],
    hold: facts,
    preview,
  };
}

function pinnedBy({ publication }: Publication): HoldFacts {
  return { reason: "PINNED", publication };
}
