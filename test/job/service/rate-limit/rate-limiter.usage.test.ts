import { describe, expect, it } from "vitest";
import type { RateLimiter } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import type { Usage } from "../../../../lambdas/job/service/rate-limit/usage-window.ts";
import { acquired, free, NOW, settled, setUp, WINDOW } from "./rate-limiter-setup.ts";

const TEN_MINUTES = 600_000;

/** A place for records that answers when a test says so. */
const recorder = (rateLimiter: RateLimiter) => {
  const begun: (readonly Usage[])[] = [];
  let end = Promise.withResolvers<void>();
  rateLimiter.recordWith(() => {
    begun.push(rateLimiter.usage());
    return end.promise;
  });
  const settle = async (isWritten: boolean): Promise<void> => {
    const ended = end;
    end = Promise.withResolvers<void>();
    if (isWritten) ended.resolve();
    else ended.reject(new Error("the store fails"));
    await settled();
  };
  return { begun, written: () => settle(true), failed: () => settle(false) };
};

const sum = (usage: readonly Usage[] | undefined): number =>
  (usage ?? []).reduce((total, { requests }) => total + requests, 0);

describe("the record of the usage", () => {
  it("is begun at half a minute's budget, and lacks a minute's budget at most", async () => {
    const { rateLimiter } = setUp({ windowMs: TEN_MINUTES, requestsPerMinute: 200 });
    const { begun, written } = recorder(rateLimiter);

    expect(free(rateLimiter)).toBe(180);
    expect(begun.map(sum)).toEqual([90]);
    await written();
    expect(free(rateLimiter)).toBe(90);

    expect(begun.map(sum)).toEqual([90, 181]);
  });

  it("lets all of a window through at once as fast as it is written", async () => {
    const { rateLimiter } = setUp({ windowMs: TEN_MINUTES, requestsPerMinute: 200 });
    const { begun, written } = recorder(rateLimiter);

    let sent = 0;
    for (let turn = 0; turn < 50; turn += 1) {
      sent += free(rateLimiter);
      await written();
    }

    expect(sent).toBe(1_800);
    expect(begun.length).toBeLessThanOrEqual(21);
  });

  it("holds no request back for longer than it takes, also if it fails", async () => {
    const { rateLimiter } = setUp({ windowMs: TEN_MINUTES, requestsPerMinute: 200 });
    const { failed } = recorder(rateLimiter);
    free(rateLimiter);
    let isServed = false;
    void rateLimiter.acquire("other").then(() => {
      isServed = true;
    });

    await settled();
    expect(isServed).toBe(false);
    await failed();

    expect(isServed).toBe(true);
  });

  it("is begun by bytes, too", async () => {
    const { rateLimiter } = setUp({ windowMs: TEN_MINUTES, bytesPerMinute: 1_000, share: 1 });
    const { begun, written } = recorder(rateLimiter);
    acquired(rateLimiter).settle(300);
    expect(begun).toHaveLength(0);

    acquired(rateLimiter).settle(300);
    expect(begun).toHaveLength(1);
    acquired(rateLimiter).settle(300);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    await written();

    expect(rateLimiter.tryAcquire("detail")).toBeDefined();
  });

  it.each([
    { bytes: 400, isPermitted: true, begun: 0 },
    { bytes: 401, isPermitted: false, begun: 0 },
    { bytes: 500, isPermitted: false, begun: 1 },
  ])("is begun where a body of 600 bytes does not fit beside $bytes of 1000", ({ bytes, ...expected }) => {
    const { rateLimiter } = setUp({ windowMs: TEN_MINUTES, bytesPerMinute: 1_000, share: 1 });
    acquired(rateLimiter).settle(600);
    const { begun } = recorder(rateLimiter);

    rateLimiter.tryAcquire("other")?.settle(bytes);
    const before = begun.length;
    const permit = rateLimiter.tryAcquire("detail");

    expect({ isPermitted: permit !== undefined, begun: before }).toEqual(expected);
    expect(begun).toHaveLength(1);
  });

  it("lets a body through that is larger than a minute's budget", async () => {
    const { rateLimiter } = setUp({ windowMs: TEN_MINUTES, bytesPerMinute: 100, share: 1 });
    const { begun, written } = recorder(rateLimiter);

    acquired(rateLimiter).settle(450);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    await written();

    expect(rateLimiter.tryAcquire("detail")).toBeDefined();
    expect(begun.length).toBeGreaterThan(0);
  });

  it("is not needed within a window of a minute", () => {
    const { rateLimiter } = setUp({ requestsPerMinute: 200 });
    const { begun } = recorder(rateLimiter);

    expect(free(rateLimiter)).toBe(180);
    expect(begun).toHaveLength(0);
  });
});

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
