// A run whose snapshot was published is finished, whatever has happened since: a rollback, a later head, another clock.

import { undefinedIfDamaged } from "../../errors/sync-error.ts";
import { readManifest } from "../../snapshot/files/manifest.ts";
import { publishedOf } from "../../snapshot/files/published-snapshots.ts";
import { plannedTrigger } from "../../snapshot/staging/plan.ts";
import { isRestart, type Publication } from "../../storage/publication.ts";
import { findPublication, isOfRun, publicationBefore } from "../../storage/publication-log.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { WarehousePorts, WorldPorts } from "../run-ports.ts";
import { type Attempt, beginAttempt, countsOf, NO_COUNTS, recordAttempt } from "./attempt.ts";
import { readHold } from "./held-mark.ts";
import { attemptsOf, isRun, mayHaveExpired } from "./run-log.ts";
import { type RunEnd, writeRunResult } from "./run-result.ts";
import { countText } from "./texts.ts";

/** How the run ended, read from what it has written. Without a publication where the run did not publish it. */
type PublishedRun = Pick<Attempt, "counts" | "doubt" | "publication"> & { readonly end: RunEnd };

/**
 * Undefined for a run whose snapshot no publication names. The log is read only where there is a snapshot at all:
 * its manifest is written before it is published, and the mark of a retired one stays. So a new run costs one list.
 */
export async function publishedRun(store: AccountStore, runId: string): Promise<PublishedRun | undefined> {
  if (!(await hasSnapshot(store, runId))) return undefined;
  const named = (await publishedOf(store, [runId])).get(runId);
  if (named === undefined) return undefined;
  const own = named.action === "run" ? named : await findPublication(store, isOfRun(runId));
  const known = await knownOfRun(store, runId, own);
  const end = own ? await publishedEnd(store, own) : await heldAtFirst(store, named);
  return { end, ...known, publication: own?.publication };
}

type RecordPorts = WorldPorts & WarehousePorts;

/** Records the end of a run that crashed before it could; false where its snapshot was not published. */
export async function recordPublishedRun(ports: RecordPorts, runId: string): Promise<boolean> {
  const published = await publishedRun(ports.store, runId);
  if (published === undefined) return false;
  const { end, counts, doubt } = published;
  const { outcome, explanation } = end;
  for await (const row of attemptsOf(ports.store, runId)) {
    if (row.outcome !== outcome) continue;
    await writeRunResult(ports.store, { row, explanation, doubt });
    return true;
  }
  const trigger = await plannedTrigger(ports.store, runId);
  const attempt = beginAttempt(ports.clock, trigger, runId);
  await recordLate(ports, { ...attempt, snapshotId: runId, counts, doubt }, end);
  return true;
}

/**
 * Records a publication where its run, accept or rollback could not: it crashed, or the disk was full. One whose line may have
 * expired has been recorded.
 */
export async function recordUnrecorded(ports: RecordPorts, publication: Publication): Promise<void> {
  const { action, run_id: runId, snapshot_id: snapshotId } = publication;
  if (mayHaveExpired(runId, ports.clock.now())) return;
  for await (const { outcome } of attemptsOf(ports.store, runId)) if (outcome === "PUBLISHED") return;
  const trigger = action === "run" ? await plannedTrigger(ports.store, runId) : action;
  const known = await knownOfRun(ports.store, snapshotId, publication);
  const end = await publishedEnd(ports.store, publication);
  await recordLate(ports, { ...beginAttempt(ports.clock, trigger, runId), snapshotId, ...known }, end);
}

async function recordLate(ports: RecordPorts, attempt: Attempt, end: RunEnd): Promise<void> {
  const { error } = await recordAttempt(ports, attempt, end);
  if (error) throw error;
  const { trigger, runId } = attempt;
  ports.logger.info(
    `records that the ${isRun(trigger) ? "run" : trigger} ${runId} ended as ${end.outcome}; it could not record that itself`,
  );
}

async function hasSnapshot(store: AccountStore, runId: string): Promise<boolean> {
  for await (const _ of store.list(store.keys.snapshot(runId))) return true;
  return false;
}

/** A retired snapshot has no manifest any more: of it, and of a damaged one, only the publication is known. */
async function knownOfRun(
  store: AccountStore,
  snapshotId: string,
  own: Publication | undefined,
): Promise<Pick<Attempt, "counts" | "doubt">> {
  const manifest = await readManifest(store, snapshotId).catch(undefinedIfDamaged);
  if (manifest) return { counts: countsOf(manifest, own), doubt: manifest.doubt };
  if (own === undefined) return { counts: NO_COUNTS };
  const { events, added, changed, removed } = own;
  return { counts: { ...NO_COUNTS, events, added, changed, removed } };
}

/** The snapshot was held at first: a person has published it, not its run. */
async function heldAtFirst(
  store: AccountStore,
  { snapshot_id: snapshotId, publication }: Publication,
): Promise<RunEnd> {
  const hold = await readHold(store, snapshotId);
  const why = hold === undefined ? "" : `${hold.explanation} `;
  return {
    outcome: "HELD",
    reason: hold?.reason ?? null,
    explanation: `${why}The snapshot ${snapshotId} was held at first; a person has published it since (publication ${publication}).`,
  };
}

/** The reason of a restart is `DAMAGED_HEAD`. */
export async function publishedEnd(store: AccountStore, published: Publication): Promise<RunEnd> {
  const { publication, events, base_snapshot_id: base } = published;
  const before = await publicationBefore(store, publication);
  if (before === undefined)
    return { outcome: "PUBLISHED", reason: null, explanation: `${FIRST} of the account ${store.account}.` };
  if (!isRestart(published, before)) return { outcome: "PUBLISHED", reason: null };
  const what = base === null ? restartText(events) : `restart: the changes are those against ${base}`;
  return {
    outcome: "PUBLISHED",
    reason: "DAMAGED_HEAD",
    explanation: `${what}. A reader that applies event_changes in order begins again with this publication.`,
  };
}

/** A person who knows that there were earlier ones looks in another place. */
const FIRST = "The publication is the first one here";

/** `restart: all 5,000 events count as added`. */
export function restartText(events: number): string {
  return `restart: all ${countText(events)} events count as added`;
}
