// How long a run will take at the least, where the request budget makes it long.

import { allowance, type Limit } from "../../settings/limit.ts";

/** Seconds that `requests` take when every window may hold the share of the limit that is used; 0 without one. */
export function estimateSeconds(requests: number, requestsPerMinute: Limit): number {
  return Math.max(0, Math.ceil(requests / allowance(requestsPerMinute)) - 1) * 60;
}
