import { describe, expect, it } from "vitest";
import { acquired, free, NOW, setUp, WINDOW } from "./rate-limiter-setup.ts";

describe("the use of the last window", () => {
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

  it("is forgotten after a window, also where nothing was asked meanwhile", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 100 });
    acquired(rateLimiter).settle(40);

    clock.advance(WINDOW);
    expect(rateLimiter.usage()).toEqual([{ atMs: NOW, requests: 1, bytes: 40 }]);
    clock.advance(1);
    expect(rateLimiter.usage()).toEqual([]);
  });

  it("counts in order of time, whichever process it is of", () => {
    const earlier = [NOW, NOW - 5_000].map((atMs) => ({ atMs, requests: 1, bytes: 0 }));
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 2, share: 1, earlier });

    clock.advance(WINDOW - 5_000);
    expect(free(rateLimiter)).toBe(0);
    clock.advance(1);

    expect(free(rateLimiter)).toBe(1);
  });

  it("of other processes counts within the window only", () => {
    const earlier = [NOW - 2 * WINDOW, NOW - WINDOW].map((atMs) => ({ atMs, requests: 3, bytes: 30 }));
    const { rateLimiter } = setUp({ requestsPerMinute: 10, share: 1, earlier });

    expect(free(rateLimiter)).toBe(7);
  });

  it("counts as the latest of its thousandth of a window", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 3, share: 1 });
    for (const laterMs of [59, 1, 0]) {
      acquired(rateLimiter).settle(0);
      clock.advance(laterMs);
    }

    expect([1, 2, 3].map((requests) => rateLimiter.waitMs(requests))).toEqual([60_000, 60_000, 60_001]);
  });

  it("of a process whose clock is ahead counts as now", () => {
    const earlier = [{ atMs: NOW + 1_000, requests: 4, bytes: 0 }];
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 10, share: 1, earlier });

    expect(free(rateLimiter)).toBe(6);
    expect(rateLimiter.usage()[0]).toEqual({ atMs: NOW, requests: 4, bytes: 0 });
    expect(rateLimiter.waitMs(1)).toBe(WINDOW + 1);
    clock.advance(WINDOW);
    expect(rateLimiter.usage()[0]).toMatchObject({ requests: 4 });
  });
});
