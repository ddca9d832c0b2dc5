// A budget on a clock that stands still, and what tests do with it.

import {
  type Permit,
  RateLimiter,
  type RateLimiterOptions,
  type RequestKind,
} from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import type { Usage, UsageCarrier } from "../../../../lambdas/job/service/rate-limit/usage-window.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";

export const NOW = 1_000_000_000;
export const WINDOW = 60_000;

export const setUp = (options: Partial<RateLimiterOptions> = {}) => {
  const clock = new ManualClock(NOW);
  const rateLimiter = new RateLimiter({
    requestsPerMinute: "unlimited",
    bytesPerMinute: "unlimited",
    windowMs: WINDOW,
    clock,
    ...options,
  });
  return { clock, rateLimiter };
};

/** Carries nothing on. */
export const carrierOf = (earlier: readonly Usage[] = []): UsageCarrier => ({
  earlier,
  isOverdue: false,
  record: async () => undefined,
  carry: () => undefined,
});

/** Lets promises that are settled run their continuations. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

export const acquired = (rateLimiter: RateLimiter): Permit => {
  const permit = rateLimiter.tryAcquire("detail");
  if (permit === undefined) throw new Error("no permit");
  return permit;
};

/** How many are let through at once. */
export const free = (rateLimiter: RateLimiter, kind: RequestKind = "other"): number => {
  let count = 0;
  while (count < 1_000 && rateLimiter.tryAcquire(kind) !== undefined) count += 1;
  return count;
};
