import { describe, expect, it } from "vitest";
import { acquired, free, settled, setUp, WINDOW } from "./rate-limiter-setup.ts";

describe("a pause", () => {
  it.each([
    ["without a limit", {}],
    ["within the limits", { requestsPerMinute: 100 }],
  ])("lasts as long as it was asked for, and not a moment longer, %s", async (_, limits) => {
    const { clock, rateLimiter } = setUp(limits);
    let isServed = false;

    rateLimiter.pause(12_000, true);
    void rateLimiter.acquire("detail").then(() => {
      isServed = true;
    });

    clock.advance(11_999);
    await settled();
    expect([isServed, rateLimiter.pausedMs]).toEqual([false, 1]);
    clock.advance(1);
    await settled();
    expect([isServed, rateLimiter.pausedMs]).toEqual([true, 0]);
  });

  it("is none at first", () => {
    const { rateLimiter } = setUp();

    expect([rateLimiter.pausedMs, rateLimiter.heldBackBy]).toEqual([0, "budget"]);
  });

  it("lasts until the latest of all ends that were asked for, also for a request that waits", async () => {
    const { clock, rateLimiter } = setUp();
    let isServed = false;

    rateLimiter.pause(10_000, true);
    void rateLimiter.acquire("detail").then(() => {
      isServed = true;
    });
    rateLimiter.pause(20_000, true);
    rateLimiter.pause(5_000, true);

    for (const expected of [false, true]) {
      clock.advance(10_000);
      await settled();
      expect(isServed).toBe(expected);
    }
  });

  it("is explained by what makes it last", () => {
    const { clock, rateLimiter } = setUp();
    const reasons = [];

    for (const [ms, isAsked] of [
      [10, false],
      [10, true],
      [11, true],
      [5, false],
      [20, false],
    ] as const) {
      rateLimiter.pause(ms, isAsked);
      reasons.push(rateLimiter.heldBackBy);
    }
    clock.advance(20);
    reasons.push(rateLimiter.heldBackBy);

    expect(reasons).toEqual(["throttled", "throttled", "retry-after", "retry-after", "throttled", "budget"]);
  });

  it("is as long, wherever the clock is set", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 100, share: 1 });

    rateLimiter.pause(10_000, true);
    clock.set(-60 * WINDOW);
    clock.advance(5_000);
    clock.set(120 * WINDOW);
    clock.advance(4_999);
    expect(free(rateLimiter)).toBe(0);
    clock.advance(1);

    expect(free(rateLimiter)).toBe(100);
  });

  it("holds requests that wait for the budget, and then the budget does", async () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 1 });
    acquired(rateLimiter).settle(0);
    const waiting = rateLimiter.acquire("other");

    rateLimiter.pause(WINDOW - 1_000, true);
    expect(rateLimiter.waitMs(1)).toBe(WINDOW + 1);
    clock.advance(WINDOW - 1_000);
    expect([rateLimiter.heldBackBy, rateLimiter.waitMs(1)]).toEqual(["budget", 1_001]);
    rateLimiter.pause(2_000, true);
    expect(rateLimiter.waitMs(1)).toBe(2_000);
    clock.advance(1_001);
    await settled();
    clock.advance(999);

    await expect(waiting).resolves.toBeDefined();
  });
});
