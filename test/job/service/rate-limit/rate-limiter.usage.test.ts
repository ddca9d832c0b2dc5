import { describe, expect, it } from "vitest";
import { RateLimiter } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { acquired, free, NOW, setUp, WINDOW } from "./rate-limiter-setup.ts";

describe("the use of the last window", () => {
  it("is exported in at most about 60 buckets, each not earlier than what it holds", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 100_000, bytesPerMinute: "unlimited" });
    for (let n = 0; n < 600; n += 1) {
      acquired(rateLimiter).settle(3);
      clock.advance(100);
    }

    const use = rateLimiter.usage();

    expect(use.length).toBeLessThanOrEqual(62);
    expect(use.reduce((sum, { requests }) => sum + requests, 0)).toBe(600);
    expect(use.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(1_800);
    expect(use.every(({ atMs }) => atMs % 1_000 === 0)).toBe(true);
    expect(use.at(0)?.atMs).toBeGreaterThanOrEqual(NOW);
  });

  it("holds what is in flight as if it were answered now, with the bytes reserved for it", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 100, bytesPerMinute: 1_000 });
    acquired(rateLimiter).settle(40);
    clock.advance(500);
    acquired(rateLimiter);
    acquired(rateLimiter);

    expect(rateLimiter.usage()).toEqual([
      { atMs: NOW, requests: 1, bytes: 40 },
      { atMs: NOW + 500, requests: 2, bytes: 80 },
    ]);
  });

  it.each([
    { when: "forward", byMs: 600_000 },
    { when: "back", byMs: -600_000 },
  ])("is as old as it was when the clock is set $when", ({ byMs }) => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 100 });
    acquired(rateLimiter).settle(40);
    clock.advance(2_000);

    clock.set(byMs);

    expect(rateLimiter.usage()).toEqual([{ atMs: NOW + byMs, requests: 1, bytes: 40 }]);
  });

  it("is remembered for an hour in minutes, and does not count after a window", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 100_000 });
    for (let n = 0; n < 7_200; n += 1) {
      acquired(rateLimiter).settle(2);
      clock.advance(1_000);
    }

    const use = rateLimiter.usage();

    expect(use.length).toBeLessThanOrEqual(122);
    expect(use[0]?.atMs).toBeGreaterThanOrEqual(NOW + 3_599_000);
    expect(use.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThanOrEqual(3_600);
    expect(use.reduce((sum, { requests }) => sum + requests, 0)).toBeLessThanOrEqual(3_660);
    expect(free(setUp({ requestsPerMinute: 1_000, share: 1, clock, earlier: use }).rateLimiter)).toBe(940);
  });

  it("is forgotten after an hour, also where nothing was asked meanwhile", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 100 });
    acquired(rateLimiter).settle(40);

    clock.advance(3_600_000);
    expect(rateLimiter.usage()).toEqual([{ atMs: NOW, requests: 1, bytes: 40 }]);
    clock.advance(1);
    expect(rateLimiter.usage()).toEqual([]);
  });

  it("leaves the window also after older usage was forgotten", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 1, share: 1 });
    const older = [3_500_000, 3_400_000].map((ms) => ({ atMs: NOW - ms, requests: 1, bytes: 0 }));
    rateLimiter.add(older);
    clock.advance(600_000);
    rateLimiter.usage();

    acquired(rateLimiter).settle(0);
    clock.advance(WINDOW + 1);

    expect(free(rateLimiter)).toBe(1);
  });

  it.each([
    { earlierMs: 60_000, laterMs: 600_000, left: 400 },
    { earlierMs: 600_000, laterMs: 60_000, left: 200 },
    { earlierMs: 10_000, laterMs: 3_600_000, left: 10_400 },
  ])("of a window of $earlierMs ms counts in one of $laterMs ms", ({ earlierMs, laterMs, left }) => {
    const { clock, rateLimiter } = setUp({ windowMs: earlierMs, requestsPerMinute: 2_000, share: 1 });
    for (let n = 0; n < 100; n += 1) {
      for (let m = 0; m < 16; m += 1) acquired(rateLimiter).settle(0);
      clock.advance(1_000);
    }
    clock.advance(400_000);

    const earlier = rateLimiter.usage();

    const next = setUp({ windowMs: laterMs, requestsPerMinute: 200, share: 1, clock, earlier });
    expect(Array.from({ length: 12 }, () => free(next.rateLimiter)).reduce((a, b) => a + b)).toBe(left);
  });

  it("counts in order of time, whichever process it is of", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 2, share: 1 });
    acquired(rateLimiter).settle(0);

    rateLimiter.add([{ atMs: NOW - 5_000, requests: 1, bytes: 0 }]);
    clock.advance(WINDOW - 5_000 + 1);

    expect(free(rateLimiter)).toBe(1);
  });

  it("that is older than the window stays as it is when more is added", () => {
    const { rateLimiter } = setUp({ requestsPerMinute: 10, share: 1 });
    const older = { atMs: NOW - WINDOW - 1, requests: 3, bytes: 30 };
    const recent = { atMs: NOW - WINDOW, requests: 4, bytes: 40 };

    rateLimiter.add([older, recent]);
    rateLimiter.add([]);

    expect(rateLimiter.usage()).toEqual([older, recent]);
    expect(free(rateLimiter)).toBe(6);
  });

  it("counts as the latest of its thousandth of a window", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 3, share: 1 });
    for (const laterMs of [59, 1, 0]) {
      acquired(rateLimiter).settle(0);
      clock.advance(laterMs);
    }

    expect([1, 2, 3].map((requests) => rateLimiter.waitMs(requests))).toEqual([60_000, 60_000, 60_001]);
  });

  it("counts in the next budget, also where its instants were rounded into the future", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 10, share: 1 });
    clock.advance(1);
    for (let n = 0; n < 4; n += 1) acquired(rateLimiter).settle(0);
    clock.advance(100);

    const next = new RateLimiter({
      requestsPerMinute: 10,
      bytesPerMinute: "unlimited",
      windowMs: WINDOW,
      share: 1,
      clock,
      earlier: rateLimiter.usage(),
    });

    expect(free(next)).toBe(6);
    expect(next.usage()[0]?.atMs).toBe(NOW + 1_000);
    clock.advance(WINDOW + 1);
    next.add([{ atMs: NOW, requests: 5, bytes: 0 }]);
    expect(next.usage().at(-1)).toEqual({ atMs: expect.any(Number), requests: 6, bytes: 0 });
    expect(free(next)).toBe(4);
  });
});
