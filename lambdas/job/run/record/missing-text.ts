// Listed events that have no row, in words: the same ones in every output.

import type { LeftOutReason } from "../../snapshot/staging/chain.ts";
import { countText } from "./count-text.ts";

interface MissingCounts {
  readonly gone: number | null;
  readonly forbidden: number | null;
  /** All others. */
  readonly rejected: number | null;
  /** Parts of `rejected`, where they are known. */
  readonly oversize?: number;
  readonly too_deep?: number;
}

/** In the order of the columns. Without a `reason` no uuids are known. */
export function missingByReason(
  counts: MissingCounts,
): readonly { readonly what: string; readonly count: number; readonly reason?: LeftOutReason }[] {
  const { oversize, too_deep: tooDeep } = counts;
  const rejected = counts.rejected ?? 0;
  return [
    { what: "gone (404 or 410)", count: counts.gone ?? 0, reason: "gone" },
    { what: "forbidden (403)", count: counts.forbidden ?? 0, reason: "forbidden" },
    ...(oversize === undefined || tooDeep === undefined
      ? [{ what: "rejected (no valid uuid, too large, or nested too deep)", count: rejected }]
      : [
          { what: "too large", count: oversize, reason: "oversize" } as const,
          { what: "nested too deep", count: tooDeep, reason: "too_deep" } as const,
          { what: "without a valid uuid", count: rejected - oversize - tooDeep },
        ]),
  ];
}

/** `38 gone (404 or 410), 2 forbidden (403)`; empty where nothing is missing. */
export function missingReasons(counts: MissingCounts): string {
  const found = missingByReason(counts).filter(({ count }) => count > 0);
  return found.map(({ what, count }) => `${countText(count)} ${what}`).join(", ");
}

/** `40 of 5,000 listed events have no details: 38 gone (404 or 410), 2 forbidden (403)`; empty where all have. */
export function missingText(counts: MissingCounts & { readonly listed: number | null }): string {
  const missing = missingByReason(counts).reduce((sum, { count }) => sum + count, 0);
  if (missing === 0) return "";
  const of = `${countText(missing)} of ${countText(counts.listed ?? 0)} listed events`;
  return `${of} ${missing === 1 ? "has" : "have"} no details: ${missingReasons(counts)}`;
}
