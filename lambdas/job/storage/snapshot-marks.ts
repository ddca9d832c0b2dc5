// The marks beside a snapshot's parts: held, retired.

import { z } from "zod";
import { isDamage } from "../errors/is-damage.ts";
import { ensureJson, readJson } from "./json-object.ts";
import { layout } from "./layout.ts";
import type { Store } from "./store.ts";

/** Everything below one snapshot's prefix. */
export interface SnapshotFiles {
  readonly snapshotId: string;
  readonly keys: readonly string[];
  readonly isHeld: boolean;
  readonly isRetired: boolean;
}

const retiredSchema = z.object({ retired_at: z.iso.datetime() });

/** All snapshots of the account that have any file, oldest first; published ones and others. */
export async function listSnapshots(store: Store, account: string): Promise<readonly SnapshotFiles[]> {
  const bySnapshot = new Map<string, string[]>();
  const prefix = layout.snapshots(account);
  for await (const { key } of store.list(prefix)) {
    const snapshotId = key.slice(prefix.length).split("/")[0] ?? "";
    const keys = bySnapshot.get(snapshotId);
    if (keys) keys.push(key);
    else bySnapshot.set(snapshotId, [key]);
  }
  return [...bySnapshot].map(([snapshotId, keys]) => ({
    snapshotId,
    keys,
    isHeld: keys.includes(layout.held(account, snapshotId)),
    isRetired: keys.includes(layout.retired(account, snapshotId)),
  }));
}

/** When the snapshot was retired, in milliseconds since the Unix epoch; undefined if it was not. A damaged mark loses only the instant. */
export async function readRetired(
  store: Store,
  account: string,
  snapshotId: string,
): Promise<number | "damaged" | undefined> {
  try {
    const mark = await readJson(store, layout.retired(account, snapshotId), retiredSchema);
    return mark && Date.parse(mark.retired_at);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return "damaged";
  }
}

/** Keeps an existing mark unless it is damaged. */
export async function markRetired(
  store: Store,
  account: string,
  snapshotId: string,
  nowMs: number,
): Promise<void> {
  const mark = { retired_at: new Date(nowMs).toISOString() };
  await ensureJson(store, layout.retired(account, snapshotId), retiredSchema, mark);
}
