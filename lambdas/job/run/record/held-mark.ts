// The mark of a held snapshot: why it is held, what publishing it would do, and what waiting means.

import * as z from "zod";
import { isDamage } from "../../errors/sync-error.ts";
import { isFuture } from "../../runtime/clock.ts";
import { runInstant } from "../../storage/layout.ts";
import { type AccountStore, readJson, writeJsonOnce } from "../../storage/store.ts";
import { durationText } from "./texts.ts";

const count = z.int().nonnegative();
const uuids = z.array(z.string()).readonly();

/** Listed events without a row, by reason; oversize, too deep and unreadable ones are parts of the rejected. */
const missing = z
  .object({
    ...{ gone: count, forbidden: count, rejected: count },
    ...{ oversize: count, too_deep: count, unreadable: count },
  })
  .readonly();

/** What was found against a snapshot, by the reason why it is held. It is stored beside the sentence that says it. */
export const holdFactsSchema = z.discriminatedUnion("reason", [
  z.object({ reason: z.literal("NO_EVENTS"), listed: count, missing }),
  z.object({
    reason: z.literal("LIST_UNSTABLE"),
    ...{ listed: count, readings: count, unstable: count },
    /** How many may be. */
    most: count,
    missing,
  }),
  z.object({ reason: z.literal("DROPPED"), events: count, seen: count, limit: z.number(), missing }),
  z.object({ reason: z.literal("GREW"), events: count, seen: count, limit: z.number(), missing }),
  z.object({
    reason: z.literal("FEW_ROWS"),
    ...{ listed: count, events: count, limit: z.number() },
    /** How many missing events were accepted before, where there were any. */
    before: count.optional(),
    missing,
  }),
  z.object({
    reason: z.literal("MISSING"),
    listed: count,
    /** How many may be missing; absent where some of them were asked for once only. */
    most: count.optional(),
    before: count.optional(),
    missing,
  }),
  z.object({ reason: z.literal("UNREADABLE"), listed: count, newly: count, uuids, missing }),
  z.object({
    reason: z.literal("REQUIRED"),
    ...{ events: count, lacking: count, most: count },
    fields: z.array(z.object({ pointer: z.string(), events: count })).readonly(),
  }),
  z.object({ reason: z.literal("PINNED"), publication: z.string() }),
]);

export type HoldFacts = Readonly<z.infer<typeof holdFactsSchema>>;

/** The last two say nothing of the snapshot: its mark is damaged, or of a later version. */
export const HOLD_REASONS = [
  ...holdFactsSchema.options.map(({ shape }) => shape.reason.value),
  "MARK_DAMAGED",
  "OTHER",
] as const;
type HoldReason = (typeof HOLD_REASONS)[number];

export interface Hold {
  readonly reason: HoldReason;
  /** For a person: what was found and what was expected. */
  readonly explanation: string;
  /** The explanation as data. Absent in marks of earlier versions, and of later ones that say more. */
  readonly facts?: HoldFacts | undefined;
  /** What publishing the snapshot would do, once it is marked, and as far as that is known. */
  readonly preview?: Preview | undefined;
}

/** The keys of a preview are in files and events, so they are written as there. */
export const previewSchema = z
  .object({
    /** What the changes are found against; null where nothing was published. */
    base_snapshot_id: z.string().nullable(),
    /** Null where the base is damaged. */
    added: count.nullable(),
    changed: count.nullable(),
    removed: count.nullable(),
    /** Listed events without a row: 404 or 410; 403; the others, of which some are too large, too deep or unreadable. */
    gone: count,
    forbidden: count,
    rejected: count,
    oversize: count,
    /** The first of each, by uuid. */
    uuids: z
      .object({
        added: uuids,
        changed: uuids,
        removed: uuids,
        gone: uuids,
        forbidden: uuids,
        oversize: uuids,
        too_deep: uuids.default([]),
        unreadable: uuids.default([]),
      })
      .readonly(),
    /** Absent in marks of earlier versions. */
    too_deep: count.default(0),
    unreadable: count.default(0),
    /** Whether the account was pinned when the snapshot was held; else absent. */
    pinned: z.literal(true).optional(),
  })
  .readonly();

export type Preview = z.infer<typeof previewSchema>;

/** The mark of a held snapshot: complete and verified, but not published until a person accepts it. */
const heldSchema = z.object({
  /** Later versions may know other reasons. */
  reason: z.string().transform((text) => HOLD_REASONS.find((known) => known === text) ?? "OTHER"),
  explanation: z.string(),
  held_at: z.iso.datetime(),
  /** Absent in marks of earlier versions. An unreadable one must not hide the reason. */
  preview: previewSchema.optional().catch(undefined),
  facts: holdFactsSchema.optional().catch(undefined),
});

/** For a snapshot whose mark cannot be read: it was held, and stays held. */
const REASON_LOST: Hold = {
  reason: "MARK_DAMAGED",
  explanation:
    "The file that said why this snapshot is held was damaged. Nothing is known of the reason but this snapshot's counts.",
};

/** Why this snapshot is held; undefined if it is not. A damaged mark loses only what it says. */
export async function readHold(store: AccountStore, snapshotId: string): Promise<Hold | undefined> {
  try {
    const mark = await readJson(store, store.keys.held(snapshotId), heldSchema);
    if (mark === undefined) return undefined;
    const { held_at: _, ...found } = mark;
    return found;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return REASON_LOST;
  }
}

/** Marks the snapshot. An earlier mark is kept: a held snapshot stays held, whatever the head is now. */
export async function hold(
  store: AccountStore,
  snapshotId: string,
  { reason, explanation, preview, facts }: Hold,
  nowMs: number,
): Promise<void> {
  const mark = { reason, explanation, held_at: new Date(nowMs).toISOString(), preview, facts };
  await writeJsonOnce(store, store.keys.held(snapshotId), mark);
}

/** To be pasted into a shell as they are. */
export interface HeldCommands {
  /** Publishes the snapshot. */
  readonly accept: string;
  /** Shows what that would change. */
  readonly diff: string;
}

/** Whether the account was pinned when the snapshot was held. An earlier version has kept the reason alone. */
export function wasPinned({
  reason,
  preview,
}: {
  readonly reason: string | null;
  readonly preview?: Preview | undefined;
}): boolean {
  return preview?.pinned ?? reason === "PINNED";
}

/** What happens after a held snapshot that no person accepts. */
export function ifNotAccepted(isPinned: boolean): string {
  return isPinned
    ? "Later runs are held too, until you accept one."
    : "The next run makes and judges another one.";
}

/** How old the data are that readers keep meanwhile: as the preview, or the event of the hold, says it. */
export function readersSee(
  preview: Readonly<Partial<Record<"base_snapshot_id" | "added", unknown>>>,
  nowMs: number,
): string {
  const { base_snapshot_id: base, added } = preview;
  const madeAtMs = typeof base === "string" ? runInstant(base) : undefined;
  if (madeAtMs !== undefined)
    return isFuture(madeAtMs, nowMs)
      ? "Readers see data of the future."
      : `Readers see data of ${durationText(nowMs - madeAtMs)} ago.`;
  return base === null && typeof added === "number"
    ? "Readers see nothing yet."
    : "Readers keep what they see.";
}
