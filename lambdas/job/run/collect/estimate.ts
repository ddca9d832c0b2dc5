// The shortest time that a run can take within the request budget.

import { windowAllowance } from "../../settings/limit.ts";
import type { RunSettings } from "../run-settings.ts";

/** Seconds that `requests` take when every window holds as many as are allowed; 0 without a limit. */
export function estimateSeconds(
  requests: number,
  { requestsPerMinute, windowMs }: Pick<RunSettings, "requestsPerMinute" | "windowMs">,
): number {
  const windows = Math.ceil(requests / windowAllowance(requestsPerMinute, windowMs));
  return (Math.max(0, windows - 1) * windowMs) / 1_000;
}
