// The shortest time that a run can take within the request budget.

import { allowance, type Limit } from "../../settings/limit.ts";

/** Seconds that `requests` take when every window holds as many as are allowed; 0 without a limit. */
export function estimateSeconds(requests: number, requestsPerMinute: Limit): number {
  return Math.max(0, Math.ceil(requests / allowance(requestsPerMinute)) - 1) * 60;
}
