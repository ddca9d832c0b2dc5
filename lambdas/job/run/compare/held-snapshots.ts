// The snapshots of an account that wait for a decision.

import { readLogSince } from "../../storage/publication-log.ts";
import { listSnapshots } from "../../storage/snapshot-marks.ts";
import type { Store } from "../../storage/store.ts";
import { type HeldMark, readHold } from "../publish/hold.ts";

export interface HeldSnapshot extends HeldMark {
  readonly snapshotId: string;
}

/** Oldest first. Retired ones, and those that a person has published or removed since, are not among them. */
export async function heldSnapshots(store: Store, account: string): Promise<readonly HeldSnapshot[]> {
  const marked = (await listSnapshots(store, account)).filter(
    ({ isHeld, isRetired }) => isHeld && !isRetired,
  );
  if (marked.length === 0) return [];
  const { publications, removal } = await readLogSince(store, account, "");
  const published = new Set(publications.map(({ snapshot_id }) => snapshot_id));
  const held: HeldSnapshot[] = [];
  for (const { snapshotId } of marked) {
    const isRemoved = removal !== undefined && snapshotId <= removal.run_id;
    const mark =
      isRemoved || published.has(snapshotId) ? undefined : await readHold(store, account, snapshotId);
    if (mark) held.push({ snapshotId, ...mark });
  }
  return held;
}
