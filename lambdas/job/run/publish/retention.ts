// Deletes old snapshots in two steps, so that no query under way loses its files: a snapshot is retired first, and
// deleted by a run at least a day after it has left the tables.

import { isFuture } from "../../runtime/clock.ts";
import { runInstant } from "../../storage/layout.ts";
import { type Publication, readLog } from "../../storage/publication-log.ts";
import {
  dateRetired,
  listSnapshots,
  markRetired,
  readRetired,
  type SnapshotFiles,
} from "../../storage/snapshot-marks.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { RunPorts } from "../run-ports.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** A snapshot that was not published in that time, held or left by a crashed run, is due. */
const UNPUBLISHED_DAYS = 30;

type RetentionPorts = Pick<RunPorts, "store" | "catalog" | "clock" | "logger">;

/**
 * Never deletes the head, nor a snapshot that was the head within the last day. A mark is taken away from the head only:
 * it was published while it was being retired. Any other stays retired, as a person may have wanted.
 * @param retainDays published snapshots older than so many days are due; undefined keeps all
 */
export async function applyRetention(ports: RetentionPorts, retainDays: number | undefined): Promise<void> {
  const { store, clock, logger } = ports;
  const log = await readLog(store);
  const nowMs = clock.now();
  const inUse = headsSince(log, nowMs - DAY_MS);
  const published = new Set(log.map(({ snapshot_id }) => snapshot_id));
  let hasCatalogChanged = false;
  /** Retired, but a table may still show them. */
  const undated: string[] = [];
  for (const snapshot of await listSnapshots(store)) {
    const { snapshotId } = snapshot;
    if (snapshot.isRetired && snapshotId === log.at(-1)?.snapshot_id) {
      await store.delete(store.keys.retired(snapshotId));
      hasCatalogChanged = true;
    } else if (snapshot.isRetired) {
      if (snapshot.files.length === 1) continue; // deleted by an earlier run
      const retiredAtMs = await readRetired(store, snapshotId);
      if (retiredAtMs === "undated") undated.push(snapshotId);
      else if (retiredAtMs !== undefined && retiredAtMs <= nowMs - DAY_MS && !inUse.has(snapshotId))
        await deleteFiles(ports, snapshot);
    } else if (
      !inUse.has(snapshotId) &&
      isDue(
        madeAtMs(snapshot, store, nowMs),
        published.has(snapshotId) ? retainDays : UNPUBLISHED_DAYS,
        nowMs,
      )
    ) {
      await markRetired(store, snapshotId);
      undated.push(snapshotId);
      logger.info(`retires the snapshot ${snapshotId}; its files are deleted after a day`);
    }
  }
  if (hasCatalogChanged || undated.length > 0) await ports.catalog.refresh(store.account);
  // Only now, because a process may die before the tables have followed: queries under way still read the files.
  for (const snapshotId of undated) await dateRetired(store, snapshotId, clock.now());
}

/** The snapshots that were the head at any time since the instant, the present head among them. */
function headsSince(log: readonly Publication[], sinceMs: number): ReadonlySet<string> {
  const heads = log.filter((_, index) => {
    const next = log[index + 1];
    return next === undefined || Date.parse(next.published_at) >= sinceMs;
  });
  return new Set(heads.map(({ snapshot_id }) => snapshot_id));
}

/** By its name; where that lies in the future, because a clock was ahead, by the time that the store has for its manifest. */
function madeAtMs(
  { snapshotId, files }: SnapshotFiles,
  { keys }: AccountStore,
  nowMs: number,
): number | undefined {
  const namedAtMs = runInstant(snapshotId);
  if (namedAtMs === undefined || !isFuture(namedAtMs, nowMs)) return namedAtMs;
  return files.find(({ key }) => key === keys.manifest(snapshotId))?.modifiedAtMs;
}

function isDue(madeAtMs: number | undefined, days: number | undefined, nowMs: number): boolean {
  return madeAtMs !== undefined && days !== undefined && madeAtMs < nowMs - days * DAY_MS;
}

/** The mark stays, so that a deleted snapshot is never mistaken for a lost one. */
async function deleteFiles({ store, logger }: RetentionPorts, snapshot: SnapshotFiles): Promise<void> {
  const { snapshotId } = snapshot;
  const files = snapshot.files.filter(({ key }) => key !== store.keys.retired(snapshotId));
  for (const { key } of files) await store.delete(key);
  logger.info(`deleted the retired snapshot ${snapshotId}`);
}
