import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { acquired, free, NOW, settled, setUp, WINDOW } from "./rate-limiter-setup.ts";

const TEN_MINUTES = 600_000;

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

  it("frees a burst as late as a window after it", () => {
    const { clock, rateLimiter } = setUp({ windowMs: TEN_MINUTES, requestsPerMinute: 10 });
    for (let n = 0; n < 90; n += 1) acquired(rateLimiter).settle(0);

    clock.advance(TEN_MINUTES);
    expect(free(rateLimiter)).toBe(0);
    clock.advance(1);

    expect(free(rateLimiter)).toBe(90);
  });

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

  it("stays small in memory: a million requests of an hour are held as a thousand sums", () => {
    const { clock, rateLimiter } = setUp({ windowMs: 3_600_000 });
    const before = heapBytes();

    for (let n = 0; n < 1_000_000; n += 1) {
      rateLimiter.tryAcquire("other")?.settle(100);
      clock.advance(3);
    }

    expect(heapBytes() - before).toBeLessThan(1_000_000);
    const use = rateLimiter.usage();
    expect(use.length).toBeLessThanOrEqual(1_001);
    expect(use.reduce((sum, { requests }) => sum + requests, 0)).toBe(1_000_000);
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
