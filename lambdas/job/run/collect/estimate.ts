// How long a run will take at the least, where the request budget makes it long.

import type { Limit } from "../run-ports.ts";

/** Design section 4: retries and clocks that differ need room below the limit. */
export const BUDGET_SHARE = 0.9;

/** Seconds that `requests` take when every window may hold the share of the limit that is used; 0 without one. */
export function estimateSeconds(requests: number, requestsPerMinute: Limit): number {
  if (requestsPerMinute === "unlimited") return 0;
  const allowed = Math.max(1, Math.floor(requestsPerMinute * BUDGET_SHARE));
  return Math.max(0, Math.ceil(requests / allowed) - 1) * 60;
}
