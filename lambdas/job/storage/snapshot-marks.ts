// The marks beside a snapshot's parts: held, retired.

import * as z from "zod";
import type { Advice } from "../errors/advice.ts";
import { damageIn, isDamage, SyncError } from "../errors/sync-error.ts";
import { isOfLayout } from "./layout.ts";
import { type AccountStore, jsonBytes, readJson, type StoredKey, writeJsonOnce } from "./store.ts";

/** The files of the layout below one snapshot's prefix. */
export interface SnapshotFiles {
  readonly snapshotId: string;
  readonly files: readonly StoredKey[];
  readonly isHeld: boolean;
  readonly isRetired: boolean;
  /** The size of all files together, as they are stored. */
  readonly bytes: number;
}

/** @param why without the full stop at its end */
export function snapshotNotFound(snapshotId: string, why: string, next: Advice | string): SyncError {
  return new SyncError("SNAPSHOT_NOT_FOUND", `The snapshot ${snapshotId} ${why}.`, {
    fields: { snapshot_id: snapshotId },
    next,
  });
}

/** Where the ids are. */
export const IDS = "The ids are in the table publications, and in what the status of the account says.";

/** Why a snapshot that is retired can be neither published nor compared. */
export const RETIRED = "is retired: its files are deleted, or will be within a day";

/** A mark without the instant: the tables may still show the snapshot. */
const retiredSchema = z.object({ retired_at: z.iso.datetime().optional() });

/**
 * All snapshots of the account that have any file, oldest first; published ones and others.
 * @param after only those that are named later than this
 */
export async function listSnapshots(store: AccountStore, after = ""): Promise<readonly SnapshotFiles[]> {
  const prefix = store.keys.snapshots;
  const listed = await Array.fromAsync(store.list(prefix, `${prefix}${after}`));
  const bySnapshot = Map.groupBy(
    listed.filter(({ key }) => isOfLayout(key)),
    ({ key }) => key.slice(prefix.length).split("/", 1)[0] ?? "",
  );
  return [...bySnapshot].map(([snapshotId, files]) => withMarks(store, snapshotId, files));
}

/** What there is of one snapshot. */
export async function readSnapshotFiles(store: AccountStore, snapshotId: string): Promise<SnapshotFiles> {
  const listed = await Array.fromAsync(store.list(store.keys.snapshot(snapshotId)));
  return withMarks(
    store,
    snapshotId,
    listed.filter(({ key }) => isOfLayout(key)),
  );
}

function withMarks({ keys }: AccountStore, snapshotId: string, files: readonly StoredKey[]): SnapshotFiles {
  const has = (key: string): boolean => files.some((file) => file.key === key);
  return {
    snapshotId,
    files,
    isHeld: has(keys.held(snapshotId)),
    isRetired: has(keys.retired(snapshotId)),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/**
 * The instant from which on no table shows the snapshot, in milliseconds since the Unix epoch; undefined if it was not
 * retired. A damaged mark has lost the instant.
 */
export async function readRetired(
  store: AccountStore,
  snapshotId: string,
): Promise<number | "undated" | undefined> {
  try {
    const mark = await readJson(store, store.keys.retired(snapshotId), retiredSchema);
    if (mark === undefined) return undefined;
    return mark.retired_at === undefined ? "undated" : Date.parse(mark.retired_at);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return "undated";
  }
}

/**
 * The next refresh of the catalog takes the snapshot out of the tables. Keeps an existing mark unless it is damaged: that is
 * deleted first and never overwritten, because files that other processes rely on are only ever created.
 */
export async function markRetired(store: AccountStore, snapshotId: string): Promise<void> {
  const key = store.keys.retired(snapshotId);
  if (await writeJsonOnce(store, key, {})) return;
  if ((await damageIn(readJson(store, key, retiredSchema))) === undefined) return;
  await store.delete([key]);
  await writeJsonOnce(store, key, {});
}

/** From this instant on no table shows the snapshot. Nothing is changed where another process says so as well. */
export async function dateRetired(store: AccountStore, snapshotId: string, nowMs: number): Promise<void> {
  const key = store.keys.retired(snapshotId);
  const mark = await store.read(key);
  if (mark === undefined || (await readRetired(store, snapshotId)) !== "undated") return;
  const dated = { retired_at: new Date(nowMs).toISOString() };
  await store.replace(key, jsonBytes(dated), mark.version);
}
