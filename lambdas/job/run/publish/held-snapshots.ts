// The snapshots of an account that wait for a decision.

import { SyncError, undefinedIfDamaged } from "../../errors/sync-error.ts";
import { type Manifest, readManifest } from "../../snapshot/files/manifest.ts";
import { runInstant } from "../../storage/layout.ts";
import { type LogMark, removalOf } from "../../storage/log-mark.ts";
import { readLog, readLogSince } from "../../storage/publication-log.ts";
import { listSnapshots, readRetired } from "../../storage/snapshot-marks.ts";
import type { AccountStore } from "../../storage/store.ts";
import { type Hold, readHold } from "./guard.ts";
import type { Preview } from "./preview.ts";

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

/** Oldest first. Retired ones, and those that a person has published or removed since, are not among them. */
export async function heldSnapshots(store: AccountStore): Promise<readonly HeldSnapshot[]> {
  const marked = (await listSnapshots(store)).filter(({ isHeld, isRetired }) => isHeld && !isRetired);
  if (marked.length === 0) return [];
  const log = await readLogSince(store, "");
  const published = new Set(log.publications.map(({ snapshot_id }) => snapshot_id));
  const held: HeldSnapshot[] = [];
  for (const { snapshotId } of marked) {
    if (published.has(snapshotId) || removalOf(log, snapshotId, await plannedAt(store, snapshotId))) continue;
    const mark = await readHold(store, snapshotId);
    if (mark) held.push({ snapshotId, ...mark });
  }
  return held;
}

/** Where the log ended when the snapshot was planned, as far as its manifest says it. */
export async function plannedAt(store: AccountStore, snapshotId: string): Promise<LogMark> {
  if (runInstant(snapshotId) === undefined) return undefined;
  return (await readManifest(store, snapshotId).catch(undefinedIfDamaged))?.log_end;
}

/** To be pasted into a shell as they are. */
export interface HeldCommands {
  /** Publishes the snapshot. */
  readonly accept: string;
  /** Shows what that would change. */
  readonly diff: string;
}

/** Whether the account was pinned when the snapshot was held. An earlier version has kept the reason alone. */
export function wasPinned({
  reason,
  preview,
}: {
  readonly reason: string | null;
  readonly preview?: Preview | undefined;
}): boolean {
  return preview?.pinned ?? reason === "PINNED";
}

/** What happens to a held snapshot that no person accepts. */
export function ifNotAccepted(isPinned: boolean): string {
  const next = isPinned
    ? "Later runs are held too, until a snapshot is accepted."
    : "The next run makes a new snapshot, and publishes it unless that one has to be held too.";
  return `Readers keep what they see. ${next} This one is retired after 30 days.`;
}

/** Throws `SNAPSHOT_NOT_FOUND` with the remedy, `STORE_CORRUPT` for a damaged manifest. */
export async function keptSnapshot(store: AccountStore, snapshotId: string): Promise<Manifest> {
  if (runInstant(snapshotId) === undefined) {
    throw snapshotNotFound(
      snapshotId,
      "does not exist. An id looks like 2026-11-21T06-00-00.000Z; status lists the ids",
    );
  }
  if ((await readRetired(store, snapshotId)) !== undefined) {
    throw snapshotNotFound(
      snapshotId,
      "is retired: its files are deleted, or will be within a day. Make a new one with run",
    );
  }
  if ((await store.read(store.keys.manifest(snapshotId))) !== undefined)
    return readManifest(store, snapshotId);
  const isPublished = (await readLog(store)).some(({ snapshot_id }) => snapshot_id === snapshotId);
  throw snapshotNotFound(
    snapshotId,
    isPublished
      ? "was published, but its files are missing. Restore them from a backup"
      : "does not exist. Look at status and query publications for the ids",
  );
}

export function snapshotNotFound(snapshotId: string, why: string): SyncError {
  return new SyncError("SNAPSHOT_NOT_FOUND", `The snapshot ${snapshotId} ${why}.`, {
    fields: { snapshot_id: snapshotId },
  });
}
