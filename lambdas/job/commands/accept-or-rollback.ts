// `accept` and `rollback`: a person publishes a snapshot that is already there. No request, no lease.

import { SyncError } from "../errors/sync-error.ts";
import { commit, removedMeanwhile, takeBack } from "../run/publish/commit.ts";
import { readHold } from "../run/publish/guard.ts";
import { heldSnapshots, keptSnapshot, NEWEST_HELD, snapshotNotFound } from "../run/publish/held-snapshots.ts";
import {
  type Attempt,
  beginAttempt,
  countsOf,
  NO_COUNTS,
  recordAttempt,
  unrecordedFailure,
} from "../run/record/attempt.ts";
import { publishedEnd, recordUnrecorded } from "../run/record/published-run.ts";
import type { RunEnd, RunResult } from "../run/record/run-result.ts";
import type { RunPorts } from "../run/run-ports.ts";
import type { Manifest } from "../snapshot/files/manifest.ts";
import { type Publication, readEnd, readLogSince } from "../storage/publication-log.ts";
import type { AccountStore } from "../storage/store.ts";

export type AcceptOrRollback = {
  /** The id of a snapshot; for `accept` also `NEWEST_HELD`. */
  readonly snapshotId: string;
  /** A restart: publishes although files that readers see are damaged, and every event is `added`. */
  readonly overDamaged?: boolean | undefined;
} & (
  | {
      readonly action: "accept";
      /** Takes a snapshot older than the head, too. */
      readonly force: boolean;
    }
  | {
      readonly action: "rollback";
      /** Later runs are held until an `accept`. */
      readonly pin: boolean;
    }
);

type AcceptOrRollbackPorts = Pick<
  RunPorts,
  "store" | "catalog" | "clock" | "random" | "logger" | "version" | "signal"
>;

/**
 * Publishes the snapshot against the present head, or says why not. Returns the attempt's row for every outcome; where
 * there is no such snapshot nothing was attempted, and the row is not in the run log.
 */
export async function acceptOrRollback(
  ports: AcceptOrRollbackPorts,
  request: AcceptOrRollback,
): Promise<RunResult> {
  const attempt = beginAttempt(ports.clock, request.action);
  const end = await publishAgain(ports, request, attempt).catch((error: unknown) => ({ error }));
  if ("error" in end && isNotFound(end.error) && attempt.counts === NO_COUNTS)
    return unrecordedFailure(ports, attempt, end.error);
  return recordAttempt(ports, attempt, end);
}

async function publishAgain(
  ports: AcceptOrRollbackPorts,
  asked: AcceptOrRollback,
  attempt: Attempt,
): Promise<RunEnd> {
  const { store, catalog } = ports;
  const first = await readEnd(store);
  const standing = first.head;
  await catalog.refresh(store.account);
  // A run may be about to record its own.
  if (standing && standing.action !== "run") await recordUnrecorded(ports, standing);
  const isNewest = asked.action === "accept" && asked.snapshotId === NEWEST_HELD;
  const request = isNewest ? { ...asked, snapshotId: await onlyHeld(store, standing) } : asked;
  const { action, snapshotId } = request;
  attempt.snapshotId = snapshotId;
  const manifest = await requirePublishable(store, request);
  attempt.counts = countsOf(manifest);
  const pinned = request.action === "rollback" && request.pin;
  const decide = async (head: Publication | undefined) => {
    const isOlder = head !== undefined && head.snapshot_id > snapshotId;
    return request.action === "accept" && isOlder && !request.force ? { newer: head } : undefined;
  };
  const published = await commit(
    ports,
    manifest,
    { action, run_id: attempt.runId, pinned },
    first,
    decide,
    request.overDamaged === true,
  ).catch(async (error: unknown) => {
    const isRemoved = await takeBack(ports, { last: first.last, id: snapshotId }).catch(() => undefined);
    throw isRemoved ? removedMeanwhile(store.account, snapshotId) : error;
  });
  if ("newer" in published) return olderThan(published.newer, snapshotId);
  attempt.publication = published.publication;
  attempt.counts = countsOf(manifest, published);
  await catalog.refresh(store.account);
  return publishedEnd(store, published);
}

function isNotFound(error: unknown): error is SyncError {
  return error instanceof SyncError && error.code === "SNAPSHOT_NOT_FOUND";
}

/** The id of the only held snapshot that is later than the head. Throws `SNAPSHOT_NOT_FOUND` with those that are held. */
async function onlyHeld(store: AccountStore, head: Publication | undefined): Promise<string> {
  const held = (await heldSnapshots(store)).map(({ snapshotId }) => snapshotId).toReversed();
  const later = held.filter((id) => id > (head?.snapshot_id ?? ""));
  const [newest, ...others] = later;
  if (newest !== undefined && others.length === 0) return newest;
  const of = `of the account ${store.account}`;
  const why =
    newest !== undefined
      ? `Several snapshots ${of} are held, the newest first: ${later.join(", ")}. Name one by its id.`
      : held.length > 0
        ? `The held snapshots ${of} are older than what readers see: ${held.join(", ")}. Name one by its id, with --force (force in AWS).`
        : `No snapshot ${of} is held.`;
  throw new SyncError("SNAPSHOT_NOT_FOUND", why);
}

/** The manifest of a snapshot that this action can publish. Throws `SNAPSHOT_NOT_FOUND` for any other, with the remedy. */
async function requirePublishable(
  store: AccountStore,
  { action, snapshotId }: AcceptOrRollback,
): Promise<Manifest> {
  const { publications, removal } = await readLogSince(store, "");
  const isPublished = publications.some(({ snapshot_id }) => snapshot_id === snapshotId);
  // Before its files are looked at: a removal that works, or was stopped, has not deleted all of them yet.
  if (!isPublished && removal && snapshotId <= removal.run_id)
    throw snapshotNotFound(
      snapshotId,
      "was removed with its account. If files of it are left, start remove again",
    );
  const manifest = await keptSnapshot(store, snapshotId);
  if (isPublished) return manifest;
  const isHeld = (await readHold(store, snapshotId)) !== undefined;
  if (!isHeld) throw snapshotNotFound(snapshotId, "is not finished. Start run again to finish it");
  if (action === "rollback")
    throw snapshotNotFound(snapshotId, "is held and was never published. Publish it with accept");
  return manifest;
}

function olderThan(head: Publication, snapshotId: string): RunEnd {
  return {
    outcome: "SUPERSEDED",
    reason: "LATER_HEAD",
    explanation: `Readers already see ${head.snapshot_id}, which is later than ${snapshotId}. To publish the older one anyway, use accept with --force, or rollback, which also keeps later runs from replacing it.`,
  };
}
