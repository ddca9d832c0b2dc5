// Requests wait while another process may have taken the lease: it would spend the same budget.

import type { RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import type { Lease } from "./lease.ts";

/** A process that was stopped for a while first finds out, by writing the lease, whether it is still its own. */
export function permitWhileHeld(
  rateLimiter: RateLimiter,
  lease: Pick<Lease, "isOverdue" | "record" | "whenWritten">,
): void {
  let isAsked = false;
  const askAgain = rateLimiter.permitWhile(() => {
    if (!lease.isOverdue) return true;
    // Where the store fails, the renewals in the background try again.
    if (!isAsked) void lease.record();
    isAsked = true;
    return false;
  });
  lease.whenWritten(() => {
    isAsked = false;
    askAgain();
  });
}
