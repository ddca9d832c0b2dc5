import { expect, test } from "vitest";
import { estimateSeconds } from "../../../../lambdas/job/run/collect/estimate.ts";

test.each([
  { requests: 50_000, limit: "unlimited" as const, seconds: 0 },
  { requests: 180, limit: 200, seconds: 0 },
  { requests: 181, limit: 200, seconds: 60 },
  { requests: 2_000, limit: 200, seconds: 660 },
  { requests: 12_000, limit: 4_000, seconds: 180 },
  { requests: 3, limit: 1, seconds: 120 },
  { requests: 1_800, limit: 200, windowMs: 600_000, seconds: 0 },
  { requests: 50_000, limit: 200, windowMs: 600_000, seconds: 16_200 },
])(
  "$requests requests at $limit a minute take at least $seconds s",
  ({ requests, limit, windowMs = 60_000, seconds }) => {
    expect(estimateSeconds(requests, { requestsPerMinute: limit, windowMs })).toBe(seconds);
  },
);
