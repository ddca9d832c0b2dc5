// How much room the snapshots of an account take, and what each is to readers.

import type { Status } from "../../../../lambdas/job/run/status.ts";
import { FOLDERS, layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { listSnapshots, type SnapshotFiles } from "../../../../lambdas/job/storage/snapshot-marks.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";

export type SnapshotState = "what readers see" | "published before" | "held" | "retired" | "not published";

export interface StoredSnapshot {
  readonly snapshotId: string;
  readonly state: SnapshotState;
  /** As they are stored. */
  readonly bytes: number;
}

export interface StorageUse {
  /** Oldest first, without those of which only marks are left. */
  readonly snapshots: readonly StoredSnapshot[];
  /** Below `changes/`. */
  readonly changesBytes: number;
  /** Below `runs/`: fetched work. */
  readonly stagedBytes: number;
}

export async function readStorage(
  store: Store,
  account: string,
  { head, held }: Pick<Status, "head" | "held">,
  publications: readonly Publication[],
): Promise<StorageUse> {
  const published = new Set(publications.map(({ snapshot_id }) => snapshot_id));
  const waiting = new Set(held.map(({ snapshotId }) => snapshotId));
  const oldestKnown = publications[0]?.snapshot_id ?? "";
  const stateOf = ({ snapshotId, isRetired }: SnapshotFiles): SnapshotState => {
    if (snapshotId === head?.snapshot_id) return "what readers see";
    if (isRetired) return "retired";
    if (waiting.has(snapshotId)) return "held";
    // Those before the publications that were read are most likely published.
    return published.has(snapshotId) || snapshotId < oldestKnown ? "published before" : "not published";
  };
  const found = await listSnapshots(store, account);
  return {
    snapshots: found
      .filter(({ snapshotId, files }) => {
        const marks = [layout.held(account, snapshotId), layout.retired(account, snapshotId)];
        return files.some(({ key }) => !marks.includes(key));
      })
      .map((files) => ({ snapshotId: files.snapshotId, state: stateOf(files), bytes: files.bytes })),
    changesBytes: await bytesBelow(store, `${FOLDERS.changes}${account}/`),
    stagedBytes: await bytesBelow(store, layout.runs(account)),
  };
}

async function bytesBelow(store: Store, prefix: string): Promise<number> {
  let sum = 0;
  for await (const { bytes } of store.list(prefix)) sum += bytes;
  return sum;
}
