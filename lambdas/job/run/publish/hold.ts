// The mark of a held snapshot: complete and verified, but not published until a person accepts it.

import * as z from "zod";
import { isDamage } from "../../errors/is-damage.ts";
import { ensureJson, readJson } from "../../storage/json-object.ts";
import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { type Preview, previewSchema } from "../compare/preview.ts";
import { HOLD_REASONS, type Hold } from "./guard.ts";

const heldSchema = z.object({
  reason: z.enum(HOLD_REASONS),
  explanation: z.string(),
  held_at: z.iso.datetime(),
  /** Absent in marks of earlier versions. An unreadable one must not hide the reason. */
  preview: previewSchema.optional().catch(undefined),
});

/** Why a snapshot is held, and what publishing it would do, as far as that is known. */
export interface HeldMark extends Hold {
  readonly preview?: Preview;
}

/** For a snapshot whose mark cannot be read: it was held, and stays held. */
const REASON_LOST: Hold = {
  reason: "MARK_DAMAGED",
  explanation:
    "The file that said why this snapshot is held was damaged. Check the snapshot's counts before you publish it.",
};

/** Why this snapshot is held; undefined if it is not. A damaged mark loses only what it says. */
export async function readHold(
  store: Store,
  account: string,
  snapshotId: string,
): Promise<HeldMark | undefined> {
  try {
    const mark = await readJson(store, layout.held(account, snapshotId), heldSchema);
    if (mark === undefined) return undefined;
    const { reason, explanation, preview } = mark;
    return { reason, explanation, ...(preview === undefined ? {} : { preview }) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return REASON_LOST;
  }
}

/**
 * Marks the snapshot. An earlier mark is kept, unless it is damaged: a held snapshot stays held, whatever the head is
 * now.
 */
export async function hold(
  store: Store,
  account: string,
  snapshotId: string,
  { reason, explanation, preview }: HeldMark,
  nowMs: number,
): Promise<void> {
  const mark = { reason, explanation, held_at: new Date(nowMs).toISOString(), preview };
  await ensureJson(store, layout.held(account, snapshotId), heldSchema, mark);
}

/** Writes a damaged mark again. */
export async function renewHold(
  store: Store,
  account: string,
  snapshotId: string,
  nowMs: number,
): Promise<void> {
  const standing = await readHold(store, account, snapshotId);
  if (standing === REASON_LOST) await hold(store, account, snapshotId, REASON_LOST, nowMs);
}
