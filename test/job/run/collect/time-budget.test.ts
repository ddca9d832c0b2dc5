// How long a run takes at the least, as it is said before, and when a start has to stop.

import { describe, expect, test } from "vitest";
import {
  estimate,
  longPauseMs,
  sayEstimate,
  TimeBudget,
} from "../../../../lambdas/job/run/collect/time-budget.ts";
import type { RateLimiterOptions } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { wordsIn } from "../../../../lambdas/words/hold.ts";
import { ANY_SHELL, say } from "../../../../lambdas/words/style.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { acquired, carrierOf, NOW, setUp } from "../../service/rate-limit/rate-limiter-setup.ts";

const estimateText = (...of: Parameters<typeof estimate>): string => say(estimate(...of), ANY_SHELL);

/** A budget that gives nothing for 90 s. */
const pause = { waitMs: () => 90_000, waiting: 0, detailsPerWindow: 1_000, windowMs: 600_000 };

const leaving = (seconds: number) => ({ timeLeftMs: () => seconds * 1_000 });

describe("a start", () => {
  test("never stops where nothing limits its time, and no pause of the budget is told", () => {
    expect(new TimeBudget({}).stop(1_000_000)).toBeUndefined();
  });

  test.each([
    { left: 30, needed: 0, stops: false },
    { left: 29.999, needed: 0, stops: true },
    { left: 40, needed: 10, stops: false },
    { left: 40, needed: 10.001, stops: true },
  ])("with $left s left that needs $needed s beside the reserve of 30 s stops: $stops", (one) => {
    const stop = new TimeBudget(leaving(one.left)).stop(one.needed * 1_000);

    expect(stop).toEqual(one.stops ? { reason: "TIME_LIMIT", waitMs: 0 } : undefined);
  });

  test("has the reserve that its ports say", () => {
    const ports = { ...leaving(5), reserveMs: 5_000 };

    expect(new TimeBudget(ports).stop()).toBeUndefined();
    expect(new TimeBudget(ports).stop(1)).toMatchObject({ reason: "TIME_LIMIT" });
  });

  test("stops for a long pause of the budget, and says how long it is; its time limit comes first", () => {
    expect(new TimeBudget({}, pause).stop()).toEqual({ reason: "BUDGET", waitMs: 90_000 });
    expect(new TimeBudget(leaving(1), pause).stop()).toEqual({ reason: "TIME_LIMIT", waitMs: 0 });
  });

  test("that sends nothing is not stopped by the budget, and otherwise says what is done and what comes next", () => {
    new TimeBudget({}, pause).checkTime("all 12 events are staged");
    const check = (): void => new TimeBudget(leaving(29)).checkTime("all 12 events are staged");

    expect(check).toThrow(
      "The time limit is near, so the run stops here: all 12 events are staged. What is staged is kept, and the next start of this run resumes there.",
    );
    expect(check).toThrow(expect.objectContaining({ code: "INTERRUPTED", isRetryable: true }));
  });
});

const TEN_MINUTES = 600_000;
const HIGHER = "A higher --requests-per-minute shortens it if the service allows more";
const LONGER = "so does --limit-window 600 if the service averages its limit over 10 minutes";

describe("the estimate for a run", () => {
  test.each([
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

  test("counts what earlier runs have used in the window", () => {
    const carrier = carrierOf([{ atMs: NOW - 60_000, requests: 1_800, bytes: 0 }]);
    const { rateLimiter } = setUp({ requestsPerMinute: 200, windowMs: TEN_MINUTES, carrier });

    expect(estimateText(10, rateLimiter)).toBe(`10 events, about 9 min. ${HIGHER}.`);
  });

  test("goes by bytes where they are the narrower limit, once the size of a body is known", () => {
    const { rateLimiter } = setUp({ requestsPerMinute: 200, bytesPerMinute: 1_000_000 });
    const before = estimateText(900, rateLimiter);
    acquired(rateLimiter).settle(100_000);

    expect(before).toMatch(/^900 events, about 4 min$/);
    expect(estimateText(900, rateLimiter)).toMatch(
      /^900 events, about 1 h \d+ min\. A higher --bytes-per-minute shortens it/,
    );
  });
});

const notice = (options: Partial<RateLimiterOptions>) => {
  const { rateLimiter } = setUp(options);
  const log = new LogLines();
  const said = (): readonly string[] => log.text.split("\n").filter((line) => line !== "");
  return {
    rateLimiter,
    say: (events: number) => sayEstimate(events, rateLimiter, { logger: log, words: wordsIn(ANY_SHELL) }),
    said,
  };
};

test("a run of more than a minute says before it starts how long it takes", () => {
  const { say, said } = notice({ requestsPerMinute: 200 });

  say(600);

  expect(said()).toEqual([expect.stringContaining("600 events, about 3 min")]);
});

test("a shorter run says nothing", () => {
  const { say, said } = notice({ requestsPerMinute: 200 });

  say(180);

  expect(said()).toEqual([]);
});

test("bodies that make it much longer are said once twenty are known", () => {
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

const SECOND_MS = 1_000;

/** Ten requests a minute, averaged over ten. */
const limiter = (options: Partial<RateLimiterOptions> = {}) => {
  const { clock, rateLimiter } = setUp({
    requestsPerMinute: 10,
    share: 1,
    windowMs: 600 * SECOND_MS,
    ...options,
  });
  const send = (requests: number, bytes = 1): void => {
    for (let n = 0; n < requests; n += 1) acquired(rateLimiter).settle(bytes);
  };
  return { clock, rateLimiter, send };
};

describe("the long pause ahead of the next requests", () => {
  test.each<readonly [why: string, options: Partial<RateLimiterOptions>, sent: number, next: number]>([
    ["in a budget that gives them now", {}, 90, 10],
    ["in a window of a minute, even when all of it was sent at this instant", { windowMs: 60_000 }, 10, 10],
    ["for more than an empty window gives: it could never be avoided", {}, 0, 1_000],
    ["without a limit", { requestsPerMinute: "unlimited" }, 500, 1_000],
  ])("is none %s", (_, options, sent, next) => {
    const { rateLimiter, send } = limiter(options);
    send(sent);

    expect(longPauseMs(rateLimiter, next)).toBe(0);
  });

  test("lasts until what was sent leaves a window of ten minutes", () => {
    const { clock, rateLimiter, send } = limiter();
    send(95);
    clock.advance(5 * SECOND_MS);

    expect(longPauseMs(rateLimiter, 10)).toBe(595 * SECOND_MS + 1);
  });

  test("is none where requests leave the window one after the other", () => {
    const { clock, rateLimiter, send } = limiter();
    for (let n = 0; n < 100; n += 1) {
      send(1);
      clock.advance(6 * SECOND_MS);
    }

    expect(longPauseMs(rateLimiter, 50)).toBe(0);
  });

  test("ends with the last of several", () => {
    const { clock, rateLimiter, send } = limiter();
    send(50);
    clock.advance(100 * SECOND_MS);
    send(50);

    expect(longPauseMs(rateLimiter, 50)).toBe(500 * SECOND_MS + 1);
    expect(longPauseMs(rateLimiter, 51)).toBe(600 * SECOND_MS + 1);
  });

  test("is none for details so large that an empty window gives only some of them", () => {
    const { clock, rateLimiter, send } = limiter({ bytesPerMinute: 10 });
    send(1, 30);
    clock.advance(600 * SECOND_MS + 1);

    expect(longPauseMs(rateLimiter, 10)).toBe(0);
  });

  test("counts bytes too", () => {
    const { rateLimiter, send } = limiter({ bytesPerMinute: 10 });
    send(3, 30);

    expect(longPauseMs(rateLimiter, 1)).toBe(600 * SECOND_MS + 1);
  });
});
