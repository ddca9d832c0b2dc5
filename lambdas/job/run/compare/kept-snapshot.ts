// A snapshot that a person names: held, published, or any other that is complete and not retired.

import { SyncError } from "../../errors/sync-error.ts";
import { type Manifest, readManifest } from "../../snapshot/files/manifest.ts";
import { layout } from "../../storage/layout.ts";
import { readLog } from "../../storage/publication-log.ts";
import { runInstant } from "../../storage/run-id.ts";
import { readRetired } from "../../storage/snapshot-marks.ts";
import type { Store } from "../../storage/store.ts";
import { heldSnapshots } from "./held-snapshots.ts";

/** Throws `SNAPSHOT_NOT_FOUND` with the remedy, `STORE_CORRUPT` for a damaged manifest. */
export async function keptSnapshot(store: Store, account: string, snapshotId: string): Promise<Manifest> {
  if (runInstant(snapshotId) === undefined) {
    throw snapshotNotFound(
      snapshotId,
      "does not exist. An id looks like 2026-11-21T06-00-00.000Z; status lists the ids",
    );
  }
  if ((await readRetired(store, account, snapshotId)) !== undefined) {
    throw snapshotNotFound(
      snapshotId,
      "is retired: its files are deleted, or will be within a day. Make a new one with run",
    );
  }
  if ((await store.read(layout.manifest(account, snapshotId))) !== undefined)
    return readManifest(store, account, snapshotId);
  const isPublished = (await readLog(store, account)).some(({ snapshot_id }) => snapshot_id === snapshotId);
  throw snapshotNotFound(
    snapshotId,
    isPublished
      ? "was published, but its files are missing. Restore them from a backup"
      : "does not exist. Look at status and query publications for the ids",
  );
}

/** The id of the newest held snapshot. Throws `SNAPSHOT_NOT_FOUND`. */
export async function newestHeld(store: Store, account: string): Promise<string> {
  const newest = (await heldSnapshots(store, account)).at(-1);
  if (newest) return newest.snapshotId;
  throw new SyncError(
    "SNAPSHOT_NOT_FOUND",
    `No snapshot of the account ${account} is held. Name a snapshot by its id; status lists the ids.`,
  );
}

export function snapshotNotFound(snapshotId: string, why: string): SyncError {
  return new SyncError("SNAPSHOT_NOT_FOUND", `The snapshot ${snapshotId} ${why}.`, {
    fields: { snapshot_id: snapshotId },
  });
}
