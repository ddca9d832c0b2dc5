// The snapshots of an account that wait for a decision.

import { undefinedIfDamaged } from "../../errors/sync-error.ts";
import { type Manifest, readManifest } from "../../snapshot/files/manifest.ts";
import { formatRunId, runInstant } from "../../storage/layout.ts";
import { type LogMark, readLogBehind, removalOf } from "../../storage/log-mark.ts";
import type { Publication, Removal } from "../../storage/publication.ts";
import { readLog } from "../../storage/publication-log.ts";
import { IDS, listSnapshots, RETIRED, readRetired, snapshotNotFound } from "../../storage/snapshot-marks.ts";
import type { AccountStore } from "../../storage/store.ts";
import { type Hold, type Preview, readHold } from "../record/held-mark.ts";

/** The word for the newest held snapshot, in place of its id. */
export const NEWEST_HELD = "held";

export interface HeldSnapshot extends Hold {
  readonly snapshotId: string;
}

/** What its commands depend on. */
export interface Held extends Pick<HeldSnapshot, "snapshotId"> {
  /** Whether the account is pinned, so that waiting publishes nothing. */
  readonly isPinned: boolean;
  /** Absent where an earlier version has held it. */
  readonly preview?: Preview | undefined;
}

/** Longer than a snapshot waits: it is retired after 30 days. */
const LISTED_MS = 32 * 24 * 60 * 60 * 1000;

/** What readers see at an instant. */
interface Seen {
  readonly head: Pick<Publication, "snapshot_id"> | undefined;
  readonly nowMs: number;
}

/**
 * Oldest first. Retired ones, and those that a person has published or removed since, are not among them.
 * @param seen what was held long before it waits no more; all is listed without it
 */
export async function heldSnapshots(store: AccountStore, seen?: Seen): Promise<readonly HeldSnapshot[]> {
  const headMs = runInstant(seen?.head?.snapshot_id ?? "");
  // A head of the future was made under a clock that was ahead: what waits may be named before it.
  const after =
    seen && headMs !== undefined ? formatRunId(Math.min(headMs, seen.nowMs) - LISTED_MS) : undefined;
  const marked = (await listSnapshots(store, after)).filter(({ isHeld, isRetired }) => isHeld && !isRetired);
  const held: HeldSnapshot[] = [];
  for (const { snapshotId } of marked) {
    const { isPublished, removal } = await sincePlanned(store, snapshotId);
    const mark = isPublished || removal ? undefined : await readHold(store, snapshotId);
    if (mark) held.push({ snapshotId, ...mark });
  }
  return held;
}

/** Whether a publication names the snapshot; and the removal that has cut it off. */
export async function sincePlanned(
  store: AccountStore,
  snapshotId: string,
): Promise<{ readonly isPublished: boolean; readonly removal: Removal | undefined }> {
  const plannedEnd = await plannedAt(store, snapshotId);
  const log = await readLogBehind(store, plannedEnd);
  const isPublished = log.publications.some(({ snapshot_id }) => snapshot_id === snapshotId);
  return { isPublished, removal: removalOf(log, snapshotId, plannedEnd) };
}

/** Where the log ended when the snapshot was planned, as far as its manifest says it. */
export async function plannedAt(store: AccountStore, snapshotId: string): Promise<LogMark> {
  if (runInstant(snapshotId) === undefined) return undefined;
  return (await readManifest(store, snapshotId).catch(undefinedIfDamaged))?.log_end;
}

/** Throws `SNAPSHOT_NOT_FOUND` with the remedy, `STORE_CORRUPT` for a damaged manifest. */
export async function keptSnapshot(store: AccountStore, snapshotId: string): Promise<Manifest> {
  if (runInstant(snapshotId) === undefined) {
    throw snapshotNotFound(snapshotId, "does not exist", `An id looks like 2026-11-21T06-00-00.000Z. ${IDS}`);
  }
  if ((await readRetired(store, snapshotId)) !== undefined) {
    throw snapshotNotFound(snapshotId, RETIRED, "Start a run to make a new one.");
  }
  if ((await store.read(store.keys.manifest(snapshotId))) !== undefined)
    return readManifest(store, snapshotId);
  const isPublished = (await readLog(store)).some(({ snapshot_id }) => snapshot_id === snapshotId);
  throw isPublished
    ? snapshotNotFound(snapshotId, "was published, but its files are missing", "Restore them from a backup.")
    : snapshotNotFound(snapshotId, "does not exist", IDS);
}
