// The result of fetching an event, and what the files that hold results have in common.

import * as z from "zod";

/** Why a listed event has no row: 404 or 410, 403, a detail over the cap, or one that is nested too deep. */
export const LEFT_OUT_REASONS = ["gone", "forbidden", "oversize", "too_deep"] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

export interface LeftOut {
  readonly uuid: string;
  readonly reason: LeftOutReason;
}

export interface StagedRow {
  readonly uuid: string;
  readonly line: string;
}

/** The result of one event: a row's line, or why there is none. */
export type StagedResult = StagedRow | { readonly uuid: string; readonly leftOut: LeftOutReason };

export const leftOutSchema = z.object({ uuid: z.string(), reason: z.enum(LEFT_OUT_REASONS) });

/** The part of the trailer, the last line, that is the same in every such file. `sha256` is that of the rows' lines. */
export const STAGED_TRAILER = {
  rows: z.int().nonnegative(),
  left_out: z.array(leftOutSchema),
  sha256: z.string(),
} as const;

const ROW_START = '{"uuid":"';

/**
 * The uuid of a row's line, read off its fixed beginning: parsing every row again would only repeat work. Undefined for a
 * trailer. It is a copy: a part of a string keeps the whole string in memory, here each row of a shard.
 */
export function uuidOfLine(line: string): string | undefined {
  if (!line.startsWith(ROW_START)) return undefined;
  const uuid = line.slice(ROW_START.length, line.indexOf('"', ROW_START.length));
  return Buffer.from(uuid).toString();
}
