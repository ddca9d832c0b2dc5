// The snapshots of an account that wait for a decision.

import { type Manifest, readManifest } from "../../snapshot/files/manifest.ts";
import { plannedAt, publishedOf } from "../../snapshot/files/published-snapshots.ts";
import { formatRunId, runInstant } from "../../storage/layout.ts";
import { placeOf, removalOf } from "../../storage/log-mark.ts";
import { publishedAmong } from "../../storage/log-search.ts";
import type { Publication } from "../../storage/publication.ts";
import { IDS, listSnapshots, RETIRED, readRetired, snapshotNotFound } from "../../storage/snapshot-marks.ts";
import type { AccountStore } from "../../storage/store.ts";
import { type Hold, type Preview, readHold } from "../record/held-mark.ts";
import { isLater } from "./superseded.ts";

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
  readonly head: Publication | undefined;
  readonly nowMs: number;
}

/**
 * Oldest first. Retired ones, and those that a person has published or removed since, are not among them.
 * @param seen what is older than the head waits no more, and neither does what was held long before it; all is listed
 * without it
 */
export async function heldSnapshots(store: AccountStore, seen?: Seen): Promise<readonly HeldSnapshot[]> {
  const headMs = runInstant(seen?.head?.snapshot_id ?? "");
  // A head of the future was made under a clock that was ahead: what waits may be named before it.
  const after =
    seen && headMs !== undefined ? formatRunId(Math.min(headMs, seen.nowMs) - LISTED_MS) : undefined;
  const marked = (await listSnapshots(store, after)).filter(({ isHeld, isRetired }) => isHeld && !isRetired);
  const waiting = new Map<string, string | undefined>();
  for (const { snapshotId } of marked) {
    const mark = await plannedAt(store, snapshotId);
    const place = await placeOf(store, mark);
    const isPast = seen?.head !== undefined && isLater(seen.head, { id: snapshotId, place });
    if (!isPast && !(await removalOf(store, snapshotId, mark))) waiting.set(snapshotId, place);
  }
  const published = await publishedAmong(store, waiting);
  const held: HeldSnapshot[] = [];
  for (const snapshotId of waiting.keys()) {
    const mark = published.has(snapshotId) ? undefined : await readHold(store, snapshotId);
    if (mark) held.push({ snapshotId, ...mark });
  }
  return held;
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
  throw (await publishedOf(store, [snapshotId])).has(snapshotId)
    ? snapshotNotFound(snapshotId, "was published, but its files are missing", "Restore them from a backup.")
    : snapshotNotFound(snapshotId, "does not exist", IDS);
}
