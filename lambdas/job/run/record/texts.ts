// Numbers, durations and missing events, as a person reads them.

import type { LeftOutReason } from "../../snapshot/files/manifest.ts";

/** A number of things as people read it, on every computer: `50,000`. */
export function countText(n: number): string {
  return n.toLocaleString("en-US");
}

/** `add 5, change 8 and remove 1,412 events`. */
export function changesText(counts: Readonly<Record<"added" | "changed" | "removed", number>>): string {
  const { added, changed, removed } = counts;
  return `add ${countText(added)}, change ${countText(changed)} and remove ${countText(removed)} events`;
}

/** What the budget adds to each window is nothing to round up for. */
const IGNORED_MS = 10;

/** A duration that has passed, to the nearest unit. */
export function durationText(ms: number): string {
  return textOf(ms, Math.round);
}

/** A duration that a person has to wait for, rounded up. */
export function remainingText(ms: number): string {
  return textOf(ms - IGNORED_MS, Math.ceil);
}

function textOf(ms: number, round: (value: number) => number): string {
  const seconds = round(Math.max(0, ms) / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${round(minutes / (24 * 60))} days`;
}

interface MissingCounts {
  readonly gone: number | null;
  readonly forbidden: number | null;
  /** All others. */
  readonly rejected: number | null;
  /** Parts of `rejected`, where they are known. */
  readonly oversize?: number;
  readonly too_deep?: number;
  readonly unreadable?: number;
}

/** In the order of the columns. Without a `reason` no uuids are known. */
export function missingByReason(
  counts: MissingCounts,
): readonly { readonly what: string; readonly count: number; readonly reason?: LeftOutReason }[] {
  const { oversize, too_deep: tooDeep, unreadable = 0 } = counts;
  const rejected = counts.rejected ?? 0;
  return [
    { what: "gone (404 or 410)", count: counts.gone ?? 0, reason: "gone" },
    { what: "forbidden (403)", count: counts.forbidden ?? 0, reason: "forbidden" },
    ...(oversize === undefined || tooDeep === undefined
      ? [{ what: "rejected (no valid uuid, too large, nested too deep, or unreadable)", count: rejected }]
      : [
          { what: "too large", count: oversize, reason: "oversize" } as const,
          { what: "nested too deep", count: tooDeep, reason: "too_deep" } as const,
          { what: "unreadable", count: unreadable, reason: "unreadable" } as const,
          { what: "without a valid uuid", count: rejected - oversize - tooDeep - unreadable },
        ]),
  ];
}

/**
 * `38 gone (404 or 410), 2 forbidden (403)`; empty where nothing is missing.
 * @param most reasons that are named, those of the most events; the others are counted together
 */
export function missingReasons(counts: MissingCounts, most = Number.POSITIVE_INFINITY): string {
  const found = missingByReason(counts).filter(({ count }) => count > 0);
  const named = found.toSorted((a, b) => b.count - a.count).slice(0, most);
  const others = found.filter((each) => !named.includes(each)).reduce((sum, { count }) => sum + count, 0);
  return [
    ...found.filter((each) => named.includes(each)).map(({ what, count }) => `${countText(count)} ${what}`),
    ...(others === 0 ? [] : [`${countText(others)} more`]),
  ].join(", ");
}

/** `40 of 5,000 listed events have no details: 38 gone (404 or 410), 2 forbidden (403)`; empty where all have. */
export function missingText(counts: MissingCounts & { readonly listed: number | null }): string {
  const missing = missingByReason(counts).reduce((sum, { count }) => sum + count, 0);
  if (missing === 0) return "";
  const of = `${countText(missing)} of ${countText(counts.listed ?? 0)} listed events`;
  return `${of} ${missing === 1 ? "has" : "have"} no details: ${missingReasons(counts)}`;
}

/** What is wrong with a list whose `unstable` is not 0. */
export function unstableText({
  listed,
  readings,
  unstable,
}: Readonly<Record<"listed" | "readings" | "unstable", number>>): string {
  return readings === 1
    ? `${countText(unstable)} entries of the list came on two pages, with no time or budget to read it again: about as many events may be missing.`
    : `The list changed while it was read: ${countText(unstable)} of ${countText(listed)} events are not in each of its ${readings} readings, and others may be missing.`;
}
