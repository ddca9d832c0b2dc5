// The result of fetching an event: a row, or why there is none.

import * as z from "zod";

/** Why a listed event has no row: 404 or 410, 403, a detail over the cap, or one that is nested too deep. */
export const LEFT_OUT_REASONS = ["gone", "forbidden", "oversize", "too_deep"] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

export interface LeftOut {
  readonly uuid: string;
  readonly reason: LeftOutReason;
}

interface StagedRow {
  readonly uuid: string;
  readonly line: string;
}

/** The result of one event: a row's line, or why there is none. */
export type StagedResult = StagedRow | { readonly uuid: string; readonly leftOut: LeftOutReason };

export const leftOutSchema = z.object({ uuid: z.string(), reason: z.enum(LEFT_OUT_REASONS) });
