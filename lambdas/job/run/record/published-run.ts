// A run whose snapshot was published is finished, whatever has happened since: a rollback, a later head, another clock.

import { isDamage } from "../../errors/is-damage.ts";
import { readManifest } from "../../snapshot/files/manifest.ts";
import { layout } from "../../storage/layout.ts";
import {
  findPublicationOf,
  findPublicationOfSnapshot,
  type Publication,
} from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";
import { readHold } from "../publish/hold.ts";
import type { RunPorts } from "../run-ports.ts";
import { countsOf, NO_COUNTS, type RunEnd, type SnapshotCounts } from "../run-state.ts";
import { publishedEnd } from "./published-end.ts";
import { recordAttempt, startNow } from "./record-attempt.ts";

/** How the run ended, read from what it has written. */
export interface PublishedRun {
  readonly end: RunEnd;
  readonly counts: SnapshotCounts;
}

/**
 * Undefined for a run whose snapshot no publication names. The log is read only where there is a snapshot at all:
 * its manifest is written before it is published, and the mark of a retired one stays. So a new run costs one list.
 */
export async function publishedRun(
  store: Store,
  account: string,
  runId: string,
): Promise<PublishedRun | undefined> {
  if (!(await hasSnapshot(store, account, runId))) return undefined;
  const newest = await findPublicationOfSnapshot(store, account, runId);
  if (newest === undefined) return undefined;
  const own = newest.action === "run" ? newest : await findPublicationOf(store, account, runId);
  const counts = await countsOfRun(store, account, runId, own);
  if (own) return { end: await publishedEnd(store, account, own), counts };
  return { end: await heldAtFirst(store, account, newest), counts };
}

/** Records the end of a run that crashed before it could; false where its snapshot was not published. */
export async function recordPublishedRun(
  ports: Pick<RunPorts, "store" | "clock" | "logger" | "version">,
  account: string,
  runId: string,
): Promise<boolean> {
  const published = await publishedRun(ports.store, account, runId);
  if (published === undefined) return false;
  const state = { runId, snapshotId: runId, counts: published.counts, service: undefined };
  const started = startNow(ports.clock);
  // A start with a run id of its own never looks for other runs, so this one is manual.
  const { error } = await recordAttempt({ ports, account, trigger: "manual", started, state }, published.end);
  if (error) throw error;
  ports.logger.info(
    `records that the run ${runId} ended as ${published.end.outcome}; it crashed before it could record that`,
  );
  return true;
}

async function hasSnapshot(store: Store, account: string, runId: string): Promise<boolean> {
  for await (const _ of store.list(layout.snapshot(account, runId))) return true;
  return false;
}

/** A retired snapshot has no manifest any more: of it, and of a damaged one, only the publication is known. */
async function countsOfRun(
  store: Store,
  account: string,
  runId: string,
  own: Publication | undefined,
): Promise<SnapshotCounts> {
  try {
    return countsOf(await readManifest(store, account, runId), own);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  if (own === undefined) return NO_COUNTS;
  const { events, added, changed, removed } = own;
  return { ...NO_COUNTS, events, added, changed, removed };
}

/** Its run did not publish it: it was held, and a person has published it. */
async function heldAtFirst(
  store: Store,
  account: string,
  { snapshot_id: snapshotId, publication }: Publication,
): Promise<RunEnd> {
  const hold = await readHold(store, account, snapshotId);
  const why = hold === undefined ? "" : `${hold.explanation} `;
  return {
    outcome: "HELD",
    reason: hold?.reason ?? null,
    explanation: `${why}The snapshot ${snapshotId} was held at first; a person has published it since (publication ${publication}).`,
  };
}
