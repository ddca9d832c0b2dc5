// The form of a preview, in files and events: what publishing a held snapshot would do, in short. No event's text.

import * as z from "zod";

const count = z.int().nonnegative();
const uuids = z.array(z.string()).readonly();

/** Its keys are in files and events, so they are written as there. */
export const previewSchema = z
  .object({
    /** What the changes are found against; null where nothing was published. */
    base_snapshot_id: z.string().nullable(),
    /** Null where the base is damaged. */
    added: count.nullable(),
    changed: count.nullable(),
    removed: count.nullable(),
    /** Listed events without a row: 404 or 410; 403; the others, of which `oversize` are too large, and `too_deep` too deep. */
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
      })
      .readonly(),
    /** Absent in marks of earlier versions. */
    too_deep: count.default(0),
    /** Whether the account was pinned when the snapshot was held; else absent. */
    pinned: z.literal(true).optional(),
  })
  .readonly();

export type Preview = z.infer<typeof previewSchema>;
