import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { RateLimiterOptions } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import type { Usage } from "../../../../lambdas/job/service/rate-limit/usage-window.ts";
import { acquired, carrierOf, free, NOW, settled, setUp, WINDOW } from "./rate-limiter-setup.ts";

const TEN_MINUTES = 600_000;
/** So much later the service may count a request that no response came for. */
const UNANSWERED = 30_000;

setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

/** What is reachable. */
const heapBytes = (): number => {
  if (typeof collectGarbage !== "function") throw new Error("there is no garbage collector to call");
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

describe("the window that limits per minute are averaged over", () => {
  it.each([
    { windowMs: 10_000, requestsPerMinute: 200, atOnce: 30 },
    { windowMs: 60_000, requestsPerMinute: 200, atOnce: 180 },
    { windowMs: TEN_MINUTES, requestsPerMinute: 20, atOnce: 180 },
    { windowMs: 3_600_000, requestsPerMinute: 3, atOnce: 162 },
  ])(
    "of $windowMs ms lets $atOnce through at once at $requestsPerMinute a minute",
    ({ atOnce, ...options }) => {
      const { rateLimiter } = setUp(options);

      expect(free(rateLimiter)).toBe(atOnce);
    },
  );

  it("never gives more than the limit per minute where it is too short for one request", () => {
    const { clock, rateLimiter } = setUp({ windowMs: 10_000, requestsPerMinute: 2 });

    acquired(rateLimiter).settle(0);
    clock.advance(30_000);
    expect(free(rateLimiter)).toBe(0);
    clock.advance(1);

    expect(free(rateLimiter)).toBe(1);
  });

  it.each([WINDOW, 3_600_000])(
    "of %i ms is used in full every window, within a thousandth",
    async (windowMs) => {
      const { clock, rateLimiter } = setUp({ windowMs, requestsPerMinute: 60_000_000 / windowMs, share: 1 });
      let sent = 0;
      const startedAtMs = clock.monotonicMs();
      while (sent < 5_000) {
        for (let permit = rateLimiter.tryAcquire("other"); permit; permit = rateLimiter.tryAcquire("other")) {
          sent += 1;
          permit.settle(0);
          clock.advance(windowMs / 3_000); // a third of what the limit would need on average
        }
        clock.advance(rateLimiter.waitMs(1));
      }

      // The first thousand have the first third of a window, and each later thousand takes a whole one.
      expect(clock.monotonicMs() - startedAtMs).toBeLessThan(5.01 * windowMs);
      expect(clock.monotonicMs() - startedAtMs).toBeGreaterThan(4 * windowMs);
    },
  );

  it("stays small in memory: 200,000 requests of an hour are held as a thousand sums", () => {
    const { clock, rateLimiter } = setUp({ windowMs: 3_600_000 });
    const before = heapBytes();

    for (let n = 0; n < 200_000; n += 1) {
      rateLimiter.tryAcquire("other")?.settle(100);
      clock.advance(15);
    }

    expect(heapBytes() - before).toBeLessThan(1_000_000);
    const use = rateLimiter.usage();
    expect(use.length).toBeLessThanOrEqual(1_001);
    expect(use.reduce((sum, { requests }) => sum + requests, 0)).toBe(200_000);
  });
});

describe("the time until more may be sent", () => {
  it("is none while there is room, and without limits", () => {
    const { rateLimiter } = setUp({ requestsPerMinute: 10, share: 1 });

    expect(rateLimiter.waitMs(10)).toBe(0);
    expect(setUp().rateLimiter.waitMs(1_000_000)).toBe(0);
  });

  it("ends when enough of the oldest requests are a window old", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 4, share: 1 });
    for (let n = 0; n < 4; n += 1) {
      acquired(rateLimiter).settle(0);
      clock.advance(10_000);
    }

    expect([1, 2, 3, 4].map((requests) => rateLimiter.waitMs(requests))).toEqual([
      20_001, 30_001, 40_001, 50_001,
    ]);
    clock.advance(20_001);
    expect(rateLimiter.waitMs(1)).toBe(0);
  });

  it("is further windows for what one window does not hold", () => {
    const { rateLimiter } = setUp({ requestsPerMinute: 10, share: 1 });

    expect(rateLimiter.waitMs(11)).toBe(WINDOW + 1);
    expect(rateLimiter.waitMs(30)).toBe(2 * (WINDOW + 1));
    acquired(rateLimiter).settle(0);
    expect(rateLimiter.waitMs(20)).toBe(2 * (WINDOW + 1));
  });

  it("counts requests in flight as answered now", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 2, share: 1 });
    acquired(rateLimiter).settle(0);
    clock.advance(20_000);
    acquired(rateLimiter);

    expect(rateLimiter.waitMs(1)).toBe(WINDOW + 1 - 20_000);
    expect(rateLimiter.waitMs(2)).toBe(WINDOW + 1);
  });

  it("considers bytes: the largest recent body, and for more of them the mean", () => {
    const { clock, rateLimiter } = setUp({ bytesPerMinute: 1_000, share: 1 });
    acquired(rateLimiter).settle(200);
    clock.advance(10_000);
    acquired(rateLimiter).settle(600);

    // 200 are left; the next body may have 600, and any other has 400 on average.
    expect(rateLimiter.waitMs(1)).toBe(WINDOW + 1);
    expect(rateLimiter.waitMs(2)).toBe(WINDOW + 1);
    expect(rateLimiter.waitMs(3)).toBe(2 * (WINDOW + 1) - 10_000);
  });

  it("is over with an empty window, however large the bodies are", () => {
    const { clock, rateLimiter } = setUp({ bytesPerMinute: 10, share: 1 });
    acquired(rateLimiter).settle(25);

    expect(rateLimiter.waitMs(1)).toBeGreaterThan(WINDOW);
    clock.advance(WINDOW + 1);

    expect(free(rateLimiter)).toBeGreaterThan(0);
  });

  it("is what a waiting request really waits", async () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 3, bytesPerMinute: 100, share: 1 });
    acquired(rateLimiter).settle(40);
    clock.advance(5_000);
    acquired(rateLimiter).settle(30);
    const waitMs = rateLimiter.waitMs(1);
    let servedAtMs = 0;

    void rateLimiter.acquire("detail").then(() => {
      servedAtMs = clock.monotonicMs();
    });
    for (let ms = 0; ms <= WINDOW; ms += 1) {
      clock.advance(1);
      if (clock.monotonicMs() % 10 <= 1) await settled();
      if (servedAtMs > 0) break;
    }

    expect(waitMs).toBe(WINDOW + 1 - 5_000);
    expect(Math.abs(servedAtMs - (NOW + 5_000 + waitMs))).toBeLessThanOrEqual(10);
  });
});

/** A budget whose records are written when a test says so. */
const recorded = (options: Partial<RateLimiterOptions>) => {
  const begun: (readonly Usage[])[] = [];
  let end = Promise.withResolvers<void>();
  const record = (): Promise<void> => {
    begun.push(rateLimiter.usage());
    return end.promise;
  };
  const { rateLimiter } = setUp({ ...options, carrier: { ...carrierOf(), record } });
  const settle = async (isWritten: boolean): Promise<void> => {
    const ended = end;
    end = Promise.withResolvers<void>();
    if (isWritten) ended.resolve();
    else ended.reject(new Error("the store fails"));
    await settled();
  };
  return { rateLimiter, begun, written: () => settle(true), failed: () => settle(false) };
};

const sum = (usage: readonly Usage[] | undefined): number =>
  (usage ?? []).reduce((total, { requests }) => total + requests, 0);

describe("the record of the usage", () => {
  it("is begun at half a minute's budget, and lacks a minute's budget at most", async () => {
    const { rateLimiter, begun, written } = recorded({ windowMs: TEN_MINUTES, requestsPerMinute: 200 });

    expect(free(rateLimiter)).toBe(180);
    expect(begun.map(sum)).toEqual([90]);
    await written();
    expect(free(rateLimiter)).toBe(90);

    expect(begun.map(sum)).toEqual([90, 181]);
  });

  it("lets all of a window through at once as fast as it is written", async () => {
    const { rateLimiter, begun, written } = recorded({ windowMs: TEN_MINUTES, requestsPerMinute: 200 });

    let sent = 0;
    for (let turn = 0; turn < 50; turn += 1) {
      sent += free(rateLimiter);
      await written();
    }

    expect(sent).toBe(1_800);
    expect(begun.length).toBeLessThanOrEqual(21);
  });

  it("holds no request back for longer than it takes, also if it fails", async () => {
    const { rateLimiter, failed } = recorded({ windowMs: TEN_MINUTES, requestsPerMinute: 200 });
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
    const { rateLimiter, begun, written } = recorded({
      windowMs: TEN_MINUTES,
      bytesPerMinute: 1_000,
      share: 1,
    });
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
  ])(
    "is begun where a body of 600 bytes does not fit beside $bytes of 1000",
    async ({ bytes, ...expected }) => {
      const options = { windowMs: TEN_MINUTES, bytesPerMinute: 1_000, share: 1 } as const;
      const { rateLimiter, begun, written } = recorded(options);
      acquired(rateLimiter).settle(600);
      await written();
      begun.length = 0;

      rateLimiter.tryAcquire("other")?.settle(bytes);
      const before = begun.length;
      const permit = rateLimiter.tryAcquire("detail");

      expect({ isPermitted: permit !== undefined, begun: before }).toEqual(expected);
      expect(begun).toHaveLength(1);
    },
  );

  it("lets a body through that is larger than a minute's budget", async () => {
    const { rateLimiter, begun, written } = recorded({
      windowMs: TEN_MINUTES,
      bytesPerMinute: 100,
      share: 1,
    });

    acquired(rateLimiter).settle(450);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    await written();

    expect(rateLimiter.tryAcquire("detail")).toBeDefined();
    expect(begun.length).toBeGreaterThan(0);
  });

  it("is not needed within a window of a minute", () => {
    const { rateLimiter, begun } = recorded({ requestsPerMinute: 200 });

    expect(free(rateLimiter)).toBe(180);
    expect(begun).toHaveLength(0);
  });
});

describe("the use of the last window", () => {
  it("holds what is in flight as late as the service may count it, with the bytes reserved for it", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 100, bytesPerMinute: 1_000 });
    acquired(rateLimiter).settle(40);
    clock.advance(500);
    acquired(rateLimiter);
    acquired(rateLimiter);

    expect(rateLimiter.usage()).toEqual([
      { atMs: NOW, requests: 1, bytes: 40 },
      { atMs: NOW + 500 + UNANSWERED, requests: 2, bytes: 80 },
    ]);
  });

  it("holds a request without a response as late, also behind what is answered meanwhile", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 2, bytesPerMinute: 1_000, share: 1 });
    acquired(rateLimiter).settle(40);
    clock.advance(WINDOW + 1);
    acquired(rateLimiter).settle(undefined);
    clock.advance(10_000);
    acquired(rateLimiter).settle(50);

    const givenUpAtMs = NOW + WINDOW + 1;
    expect(rateLimiter.usage()).toEqual([
      { atMs: givenUpAtMs + 10_000, requests: 1, bytes: 50 },
      { atMs: givenUpAtMs + UNANSWERED, requests: 1, bytes: 40 },
    ]);
    expect(rateLimiter.waitMs(1)).toBe(WINDOW + 1);
    expect(rateLimiter.waitMs(2)).toBe(UNANSWERED - 10_000 + WINDOW + 1);
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
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 2, share: 1, carrier: carrierOf(earlier) });

    clock.advance(WINDOW - 5_000);
    expect(free(rateLimiter)).toBe(0);
    clock.advance(1);

    expect(free(rateLimiter)).toBe(1);
  });

  it("of other processes counts within the window only", () => {
    const earlier = [NOW - 2 * WINDOW, NOW - WINDOW].map((atMs) => ({ atMs, requests: 3, bytes: 30 }));
    const { rateLimiter } = setUp({ requestsPerMinute: 10, share: 1, carrier: carrierOf(earlier) });

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
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 10, share: 1, carrier: carrierOf(earlier) });

    expect(free(rateLimiter)).toBe(6);
    expect(rateLimiter.usage()[0]).toEqual({ atMs: NOW, requests: 4, bytes: 0 });
    expect(rateLimiter.waitMs(1)).toBe(WINDOW + 1);
    clock.advance(WINDOW);
    expect(rateLimiter.usage()[0]).toMatchObject({ requests: 4 });
  });
});
