// Long pauses of the budget, which are not worth waiting for where something else can wait.

import type { RateLimiter } from "./rate-limiter.ts";

/** A minute. A pause within a window of a minute is never longer, because the limiter rounds instants up by one. */
const LONG_MS = 60_001;

/**
 * In how many milliseconds the last pause of more than a minute is over that lies ahead of so many more details; 0 where
 * there is none. Counts no more details than an empty window gives: pauses between windows cannot be avoided.
 */
export function longPauseMs(
  limiter: Pick<RateLimiter, "waitMs" | "waiting" | "detailsPerWindow" | "windowMs">,
  requests: number,
): number {
  if (limiter.windowMs < LONG_MS || limiter.detailsPerWindow === Number.POSITIVE_INFINITY) return 0;
  const next = Math.min(requests + limiter.waiting, limiter.detailsPerWindow);
  let beforeMs = 0;
  let endMs = 0;
  for (let n = 1; n <= next; n += 1) {
    const ms = limiter.waitMs(n);
    if (ms - beforeMs > LONG_MS) endMs = ms;
    beforeMs = ms;
  }
  return endMs;
}
