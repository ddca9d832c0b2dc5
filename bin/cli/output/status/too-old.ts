// Which accounts have data that are older than `--max-age` allows.

import type { AccountStatus } from "../../../../lambdas/job/run/status-of-all.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { runInstant } from "../../../../lambdas/job/storage/run-id.ts";
import { age, minute } from "./minute.ts";

const HOUR_MS = 60 * 60 * 1000;

/** From when the data of a publication are, in milliseconds since the Unix epoch. */
export function madeAtMs({ snapshot_id, published_at }: Publication): number {
  return runInstant(snapshot_id) ?? Date.parse(published_at);
}

/**
 * A line that names them, or undefined where there is none. Data are as old as their snapshot's id says; an account
 * without a publication is too old. A damaged account is another matter.
 */
export function tooOld(
  found: readonly AccountStatus[],
  maxAgeHours: number | undefined,
  nowMs: number,
): string | undefined {
  if (maxAgeHours === undefined) return undefined;
  const named = found.flatMap((one) => {
    if ("damage" in one) return [];
    const { account, head } = one;
    if (head === null) return [`${account} (nothing is published)`];
    const madeAt = madeAtMs(head);
    if (nowMs - madeAt <= maxAgeHours * HOUR_MS) return [];
    return [`${account} (of ${minute(madeAt)}, ${age(madeAt, nowMs)})`];
  });
  return named.length === 0 ? undefined : `older than ${maxAgeHours} h: ${named.join(", ")}`;
}
