import { describe, expect, it } from "vitest";
import { estimateText } from "../../../../lambdas/job/run/collect/estimate.ts";
import { acquired, NOW, setUp } from "../../service/rate-limit/rate-limiter-setup.ts";

const TEN_MINUTES = 600_000;
const HIGHER = "A higher --requests-per-minute (requestsPerMinute) shortens it if the service allows more";
const LONGER =
  "so does --limit-window 600 (limitWindowSeconds) if the service averages its limit over 10 minutes";

describe("the estimate for a run", () => {
  it.each([
    { events: 50_000, requestsPerMinute: "unlimited" as const, says: "50,000 events" },
    { events: 180, requestsPerMinute: 200, says: "180 events" },
    { events: 181, requestsPerMinute: 200, says: "181 events, about 60 s" },
    { events: 600, requestsPerMinute: 200, says: "600 events, about 3 min" },
    {
      events: 1_000,
      requestsPerMinute: 200,
      says: `1,000 events, about 5 min. ${HIGHER}; ${LONGER}: then all are requested at once.`,
    },
    {
      events: 5_000,
      requestsPerMinute: 200,
      says: `5,000 events, about 28 min. ${HIGHER}; ${LONGER}: then it takes about 20 min.`,
    },
    {
      events: 5_000,
      requestsPerMinute: 200,
      windowMs: TEN_MINUTES,
      says: `5,000 events, about 20 min. ${HIGHER}.`,
    },
    { events: 1_800, requestsPerMinute: 200, windowMs: TEN_MINUTES, says: "1,800 events" },
    {
      events: 50_000,
      requestsPerMinute: 200,
      says: `50,000 events, about 4 h 38 min. ${HIGHER}.`,
    },
  ])("of $events events at $requestsPerMinute a minute is: $says", ({ events, says, ...options }) => {
    const { rateLimiter } = setUp(options);

    expect(estimateText(events, rateLimiter)).toBe(says);
  });

  it("counts what earlier runs have used in the window", () => {
    const earlier = [{ atMs: NOW - 60_000, requests: 1_800, bytes: 0 }];
    const { rateLimiter } = setUp({ requestsPerMinute: 200, windowMs: TEN_MINUTES, earlier });

    expect(estimateText(10, rateLimiter)).toBe(`10 events, about 9 min. ${HIGHER}.`);
  });

  it("goes by bytes where they are the narrower limit, once the size of a body is known", () => {
    const { rateLimiter } = setUp({ requestsPerMinute: 200, bytesPerMinute: 1_000_000 });
    const before = estimateText(900, rateLimiter);
    acquired(rateLimiter).settle(100_000);

    expect(before).toMatch(/^900 events, about 4 min$/);
    expect(estimateText(900, rateLimiter)).toMatch(
      /^900 events, about 1 h \d+ min\. A higher --bytes-per-minute \(bytesPerMinute\) shortens it/,
    );
  });
});
