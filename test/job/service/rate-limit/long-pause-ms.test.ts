import { describe, expect, test } from "vitest";
import { longPauseMs } from "../../../../lambdas/job/run/collect/time-budget.ts";
import {
  RateLimiter,
  type RateLimiterOptions,
} from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";

const SECOND_MS = 1_000;
const WINDOW_MS = 600 * SECOND_MS;

function limiter(windowMs: number, options: Partial<RateLimiterOptions> = {}) {
  const clock = new ManualClock(1_000_000);
  const budget = { requestsPerMinute: 10, bytesPerMinute: "unlimited", share: 1 } as const;
  const rateLimiter = new RateLimiter({ ...budget, windowMs, clock, ...options });
  const send = (requests: number, bytes = 1): void => {
    for (let n = 0; n < requests; n += 1) rateLimiter.tryAcquire("detail")?.settle(bytes);
  };
  return { clock, rateLimiter, send };
}

describe("the long pause ahead of the next requests", () => {
  test("is none in a budget that gives them now", () => {
    const { rateLimiter, send } = limiter(WINDOW_MS);
    send(90);

    expect(longPauseMs(rateLimiter, 10)).toBe(0);
  });

  test("lasts until what was sent leaves a window of ten minutes", () => {
    const { clock, rateLimiter, send } = limiter(WINDOW_MS);
    send(95);
    clock.advance(5 * SECOND_MS);

    expect(longPauseMs(rateLimiter, 10)).toBe(595 * SECOND_MS + 1);
  });

  test("is none in a window of a minute, even when all of it was sent at this instant", () => {
    const { rateLimiter, send } = limiter(60 * SECOND_MS);
    send(10);

    expect(longPauseMs(rateLimiter, 10)).toBe(0);
  });

  test("is none where requests leave the window one after the other", () => {
    const { clock, rateLimiter, send } = limiter(WINDOW_MS);
    for (let n = 0; n < 100; n += 1) {
      send(1);
      clock.advance(6 * SECOND_MS);
    }

    expect(longPauseMs(rateLimiter, 50)).toBe(0);
  });

  test("ends with the last of several", () => {
    const { clock, rateLimiter, send } = limiter(WINDOW_MS);
    send(50);
    clock.advance(100 * SECOND_MS);
    send(50);

    expect(longPauseMs(rateLimiter, 50)).toBe(500 * SECOND_MS + 1);
    expect(longPauseMs(rateLimiter, 51)).toBe(600 * SECOND_MS + 1);
  });

  test("is none for more than an empty window gives: it could never be avoided", () => {
    const { rateLimiter } = limiter(WINDOW_MS);

    expect(longPauseMs(rateLimiter, 1_000)).toBe(0);
  });

  test("is none for details so large that an empty window gives only some of them", () => {
    const { clock, rateLimiter, send } = limiter(WINDOW_MS, { bytesPerMinute: 10 });
    send(1, 30);
    clock.advance(WINDOW_MS + 1);

    expect(longPauseMs(rateLimiter, 10)).toBe(0);
  });

  test("counts bytes too", () => {
    const { rateLimiter, send } = limiter(WINDOW_MS, { bytesPerMinute: 10 });
    send(3, 30);

    expect(longPauseMs(rateLimiter, 1)).toBe(WINDOW_MS + 1);
  });

  test("is none without a limit", () => {
    const { rateLimiter, send } = limiter(WINDOW_MS, { requestsPerMinute: "unlimited" });
    send(500);

    expect(longPauseMs(rateLimiter, 1_000)).toBe(0);
  });
});
