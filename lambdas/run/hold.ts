// The mark of a held snapshot: complete and verified, but kept from readers until a person has looked.

import { z } from "zod";
import type { Manifest } from "../snapshot/manifest.ts";
import { readJson, writeJsonOnce } from "../storage/json-object.ts";
import { layout } from "../storage/layout.ts";
import type { Store } from "../storage/store.ts";
import { HOLD_REASONS, type Hold } from "./guard.ts";

const heldSchema = z.object({
  reason: z.enum(HOLD_REASONS),
  explanation: z.string(),
  held_at: z.iso.datetime(),
});

/** Why this snapshot is held; undefined if it is not. */
export async function readHold(store: Store, account: string, snapshotId: string): Promise<Hold | undefined> {
  return readJson(store, layout.held(account, snapshotId), heldSchema);
}

/** Marks the snapshot. The first mark stands: a snapshot once held stays held, whatever the head is by now. */
export async function hold(
  store: Store,
  manifest: Manifest,
  { reason, explanation }: Hold,
  nowMs: number,
): Promise<void> {
  const { account, snapshot_id: snapshotId } = manifest;
  const held_at = new Date(nowMs).toISOString();
  await writeJsonOnce(store, layout.held(account, snapshotId), { reason, explanation, held_at });
}
