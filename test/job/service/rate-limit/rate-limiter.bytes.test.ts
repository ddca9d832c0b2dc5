import { describe, expect, it } from "vitest";
import type { RateLimiter } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { acquired, setUp, WINDOW } from "./rate-limiter-setup.ts";

describe("the byte budget", () => {
  const details = (rateLimiter: RateLimiter): number => {
    let count = 0;
    while (count < 1_000 && rateLimiter.tryAcquire("detail") !== undefined) count += 1;
    return count;
  };

  it("lets one detail through until the size of one is known", () => {
    const { rateLimiter } = setUp({ bytesPerMinute: 1_000_000 });

    const first = acquired(rateLimiter);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    expect(rateLimiter.tryAcquire("other")).toBeDefined();
    first.settle(0);
    const second = acquired(rateLimiter);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    second.settle(10);

    expect(details(rateLimiter)).toBeGreaterThan(1);
  });

  it("where it is unlimited holds no detail back until a size is known", () => {
    const { rateLimiter } = setUp({ requestsPerMinute: 10, share: 1 });

    expect(details(rateLimiter)).toBe(10);
  });

  it("goes by the sizes of details that came with a body, and of nothing else", () => {
    const { rateLimiter } = setUp({ bytesPerMinute: 1_000, share: 1 });

    acquired(rateLimiter).settle(100);
    acquired(rateLimiter).settle(0);
    rateLimiter.tryAcquire("other")?.settle(500);

    expect(rateLimiter.detailsPerWindow).toBe(10);
    expect(acquired(rateLimiter).expectedBytes).toBe(100);
  });

  it("reserves the largest recent size for each detail in flight", () => {
    const { rateLimiter } = setUp({ bytesPerMinute: 1_000, share: 1 });

    acquired(rateLimiter).settle(100);
    acquired(rateLimiter).settle(50);

    // 150 are used; 8 × 100 fit into the remaining 850.
    expect(details(rateLimiter)).toBe(8);
  });

  it("forgets the size of a detail after a hundred others", () => {
    const { clock, rateLimiter } = setUp({ bytesPerMinute: 1_000, share: 1 });
    acquired(rateLimiter).settle(900);
    for (let n = 0; n < 100; n += 1) {
      clock.advance(WINDOW + 1);
      const permit = acquired(rateLimiter);
      expect(permit.expectedBytes).toBe(900);
      permit.settle(10);
    }
    clock.advance(WINDOW + 1);

    expect(details(rateLimiter)).toBe(100);
  });

  it("reserves nothing for the list and the login, and counts what they used", () => {
    const { rateLimiter } = setUp({ bytesPerMinute: 1_000, share: 1 });
    acquired(rateLimiter).settle(400);

    const list = rateLimiter.tryAcquire("other");
    expect(details(rateLimiter)).toBe(1);
    list?.settle(600);

    expect(rateLimiter.tryAcquire("other")).toBeUndefined();
  });

  it("lets a detail larger than the budget through when nothing is in flight and the window is empty", () => {
    const { clock, rateLimiter } = setUp({ bytesPerMinute: 10, share: 1 });

    acquired(rateLimiter).settle(1_000);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    clock.advance(WINDOW + 1);
    const second = rateLimiter.tryAcquire("detail");
    expect(second).toBeDefined();
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
  });

  it("serves the next when a smaller body than reserved makes room", async () => {
    const { rateLimiter } = setUp({ bytesPerMinute: 250, share: 1 });
    acquired(rateLimiter).settle(100);
    const inFlight = acquired(rateLimiter);
    const waiting = rateLimiter.acquire("detail");

    inFlight.settle(10);

    await expect(waiting).resolves.toBeDefined();
  });
});

describe("what holds requests back", () => {
  it.each([
    [{ requestsPerMinute: 2 }, "requests", 1, 2],
    [{ bytesPerMinute: 1_000 }, "bytes", 40, 1_000],
    [{ requestsPerMinute: 2, bytesPerMinute: 1_000 }, "requests", 1, 2],
    [{ requestsPerMinute: 1, bytesPerMinute: 1_000 }, "requests", 1, 1],
    [{ requestsPerMinute: 2, bytesPerMinute: 50 }, "bytes", 40, 50],
  ] as const)("of %j is the %s", (limits, limit, used, most) => {
    const { clock, rateLimiter } = setUp({ ...limits, share: 1 });
    acquired(rateLimiter).settle(7);
    clock.advance(WINDOW + 1);
    acquired(rateLimiter).settle(40);

    expect(rateLimiter.use()).toEqual({ limit, used, most, windowMs: WINDOW });
  });
});
