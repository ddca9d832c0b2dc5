import { describe, expect, it } from "vitest";
import { estimateText, sayEstimate } from "../../../../lambdas/job/run/collect/time-budget.ts";
import type { RateLimiterOptions } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { LogLines } from "../../runtime/log-lines.ts";
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

const notice = (options: Partial<RateLimiterOptions>) => {
  const { rateLimiter } = setUp(options);
  const log = new LogLines();
  const said = (): readonly string[] => log.text.split("\n").filter((line) => line !== "");
  return { rateLimiter, say: (events: number) => sayEstimate(events, rateLimiter, log), said };
};

it("a run of more than a minute says before it starts how long it takes", () => {
  const { say, said } = notice({ requestsPerMinute: 200 });

  say(600);

  expect(said()).toEqual([expect.stringContaining("600 events, about 3 min")]);
});

it("a shorter run says nothing", () => {
  const { say, said } = notice({ requestsPerMinute: 200 });

  say(180);

  expect(said()).toEqual([]);
});

it("bodies that make it much longer are said once twenty are known", () => {
  const { say, rateLimiter, said } = notice({ bytesPerMinute: 1_000_000 });

  const sayLeft = say(900);
  for (let left = 899; left > 850; left -= 1) {
    if (left === 899) acquired(rateLimiter).settle(100_000);
    sayLeft(left);
  }

  expect(said()).toEqual([
    expect.stringMatching(/880 events, about 1 h \d+ min\. A higher --bytes-per-minute/),
  ]);
});
