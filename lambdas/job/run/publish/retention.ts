// Deletes old snapshots in two steps, so that no query under way loses its files: a snapshot is retired first, and
// deleted by a run at least a day after it has left the tables. Once a day, and for the tables too: what it costs does not
// grow with how often runs are.

import { isFuture } from "../../runtime/clock.ts";
import { publishedOf } from "../../snapshot/files/published-snapshots.ts";
import { runInstant } from "../../storage/layout.ts";
import { newestFirst } from "../../storage/publication-log.ts";
import {
  dateRetired,
  listSnapshots,
  markRetired,
  readRetired,
  type SnapshotFiles,
} from "../../storage/snapshot-marks.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { WarehousePorts, WorldPorts } from "../run-ports.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** What waits for a decision, or was left by a crashed run, is not due before. */
const WAITING_DAYS = 30;

type RetentionPorts = WorldPorts & WarehousePorts;

/** Whether no other snapshot of the account is named on the same day (UTC). */
export async function isFirstOfDay(store: AccountStore, snapshotId: string): Promise<boolean> {
  const day = `${store.keys.snapshots}${snapshotId.slice(0, "2026-11-21".length)}`;
  for await (const { key } of store.list(day))
    if (!key.startsWith(store.keys.snapshot(snapshotId))) return false;
  return true;
}

/**
 * Never deletes the head, nor a snapshot that was the head within the last day. A mark is taken away from the head only:
 * it was published while it was being retired. Any other stays retired, as a person may have wanted. The catalog then looks
 * at all it shows, also where a damaged log leaves open what is in use, and nothing is retired.
 * @param retainDays published snapshots older than so many days are due; undefined keeps all
 */
export async function applyRetention(ports: RetentionPorts, retainDays: number | undefined): Promise<void> {
  const { store, clock, catalog } = ports;
  let undated: readonly string[] = [];
  try {
    undated = await retireAndDelete(ports, retainDays);
  } finally {
    await catalog.refresh(store.account);
  }
  // Only now, because a process may die before the tables have followed: queries under way still read the files.
  for (const snapshotId of undated) await dateRetired(store, snapshotId, clock.now());
}

/** Returns the snapshots that are retired but that a table may still show. */
async function retireAndDelete(
  ports: RetentionPorts,
  retainDays: number | undefined,
): Promise<readonly string[]> {
  const { store, clock, logger } = ports;
  const nowMs = clock.now();
  const { head, inUse } = await headsSince(store, nowMs - DAY_MS);
  const snapshots = await listSnapshots(store);
  const daysOf = await dueAfter(store, snapshots, retainDays, nowMs);
  const undated: string[] = [];
  for (const snapshot of snapshots) {
    const { snapshotId } = snapshot;
    if (snapshot.isRetired && snapshotId === head) await store.delete([store.keys.retired(snapshotId)]);
    else if (snapshot.isRetired) {
      if (snapshot.files.length === 1) continue; // deleted by an earlier run
      const retiredAtMs = await readRetired(store, snapshotId);
      if (retiredAtMs === "undated") undated.push(snapshotId);
      else if (retiredAtMs !== undefined && retiredAtMs <= nowMs - DAY_MS && !inUse.has(snapshotId))
        await deleteFiles(ports, snapshot);
    } else if (!inUse.has(snapshotId) && isOlder(madeAtMs(snapshot, store, nowMs), daysOf(snapshot), nowMs)) {
      await markRetired(store, snapshotId);
      undated.push(snapshotId);
      logger.info(`retires the snapshot ${snapshotId}; its files are deleted after a day`);
    }
  }
  return undated;
}

interface Heads {
  /** The snapshot that readers see. */
  readonly head: string | undefined;
  /** The snapshots that were the head at any time since the instant, the present head among them. */
  readonly inUse: ReadonlySet<string>;
}

async function headsSince(store: AccountStore, sinceMs: number): Promise<Heads> {
  const inUse = new Set<string>();
  let head: string | undefined;
  let endedAtMs = Number.POSITIVE_INFINITY;
  for await (const { snapshot_id: snapshotId, published_at } of newestFirst(store)) {
    head ??= snapshotId;
    if (endedAtMs >= sinceMs) inUse.add(snapshotId);
    endedAtMs = Date.parse(published_at);
    // Clocks differ by less than a day: what is older ended before.
    if (endedAtMs < sinceMs - DAY_MS) break;
  }
  return { head, inUse };
}

/**
 * After how many days each of them is due; undefined for never. The log is asked only where it alone knows whether a snapshot
 * that was held, or has lost its manifest, is published.
 */
async function dueAfter(
  store: AccountStore,
  snapshots: readonly SnapshotFiles[],
  retainDays: number | undefined,
  nowMs: number,
): Promise<(snapshot: SnapshotFiles) => number | undefined> {
  const isLeft = ({ snapshotId, files }: SnapshotFiles): boolean =>
    !files.some(({ key }) => key === store.keys.manifest(snapshotId));
  const mayWait = (snapshot: SnapshotFiles): boolean => snapshot.isHeld || isLeft(snapshot);
  if (retainDays !== undefined)
    return (snapshot) => (mayWait(snapshot) ? Math.max(retainDays, WAITING_DAYS) : retainDays);
  const isAsked = (snapshot: SnapshotFiles): boolean =>
    mayWait(snapshot) &&
    !snapshot.isRetired &&
    isOlder(madeAtMs(snapshot, store, nowMs), WAITING_DAYS, nowMs);
  const asked = snapshots.filter(isAsked).map(({ snapshotId }) => snapshotId);
  const published = await publishedOf(store, asked);
  return (snapshot) => (mayWait(snapshot) && !published.has(snapshot.snapshotId) ? WAITING_DAYS : undefined);
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

function isOlder(madeAtMs: number | undefined, days: number | undefined, nowMs: number): boolean {
  return madeAtMs !== undefined && days !== undefined && madeAtMs < nowMs - days * DAY_MS;
}

/** The mark stays, so that a deleted snapshot is never mistaken for a lost one. */
async function deleteFiles({ store, logger }: RetentionPorts, snapshot: SnapshotFiles): Promise<void> {
  const { snapshotId } = snapshot;
  const keys = snapshot.files.map(({ key }) => key);
  await store.delete(keys.filter((key) => key !== store.keys.retired(snapshotId)));
  logger.info(`deleted the retired snapshot ${snapshotId}`);
}
