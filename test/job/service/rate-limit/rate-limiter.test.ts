import { describe, expect, it } from "vitest";
import { acquired, carrierOf, free, NOW, settled, setUp, WINDOW } from "./rate-limiter-setup.ts";

describe("the request budget", () => {
  it.each([
    [200, undefined, 180],
    [200, 1, 200],
    [15, undefined, 13],
    [1, undefined, 1],
    [1, 0.1, 1],
  ])("of %s with share %s lets %i through at once", (requestsPerMinute, share, expected) => {
    const { rateLimiter } = setUp({ requestsPerMinute, ...(share === undefined ? {} : { share }) });

    expect(free(rateLimiter)).toBe(expected);
  });

  it("frees the place of a request one window after its response", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 1 });

    const permit = acquired(rateLimiter);
    clock.advance(10 * WINDOW);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    permit.settle(0);
    clock.advance(WINDOW);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    clock.advance(1);

    expect(rateLimiter.tryAcquire("detail")).toBeDefined();
  });

  it("gives the place of a request that was not sent free at once", () => {
    const { rateLimiter } = setUp({ requestsPerMinute: 1 });

    acquired(rateLimiter).cancel();

    expect(rateLimiter.tryAcquire("detail")).toBeDefined();
  });

  it("counts a permit once, however often it is ended", () => {
    const { rateLimiter } = setUp({ requestsPerMinute: 10, share: 1 });
    const permit = acquired(rateLimiter);

    permit.settle(7);
    permit.settle(7);
    permit.cancel();

    expect(rateLimiter.usage()).toEqual([{ atMs: NOW, requests: 1, bytes: 7 }]);
  });

  it("serves waiting requests in order of arrival", async () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 1 });
    const order: number[] = [];
    acquired(rateLimiter).settle(0);

    const waiting = [1, 2, 3].map(async (n) => {
      const permit = await rateLimiter.acquire("other");
      order.push(n);
      permit.settle(0);
    });
    for (let n = 0; n < 3; n += 1) {
      clock.advance(WINDOW + 1);
      await settled();
      expect(rateLimiter.tryAcquire("other")).toBeUndefined();
    }
    await Promise.all(waiting);

    expect(order).toEqual([1, 2, 3]);
  });

  it("lets no request overtake waiting ones", async () => {
    const { rateLimiter } = setUp({ bytesPerMinute: 100, share: 1 });
    acquired(rateLimiter).settle(60);
    const detail = rateLimiter.acquire("detail");

    expect(rateLimiter.tryAcquire("other")).toBeUndefined();

    detail.catch(() => undefined);
  });

  it("continues without an aborted request", async () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 1 });
    const abort = new AbortController();
    acquired(rateLimiter).settle(0);
    const first = rateLimiter.acquire("other", abort.signal);
    const second = rateLimiter.acquire("other");

    abort.abort(new Error("stop"));
    await expect(first).rejects.toThrow("stop");
    clock.advance(WINDOW + 1);

    await expect(second).resolves.toBeDefined();
  });

  it("gives nothing to a request that was aborted before it asked", async () => {
    const { rateLimiter } = setUp();

    const asked = rateLimiter.acquire("other", AbortSignal.abort(new Error("stop")));

    await expect(asked).rejects.toThrow("stop");
    expect(rateLimiter.usage()).toEqual([]);
  });

  it("wakes a request that waits after another one was served early", async () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 2, share: 1 });
    acquired(rateLimiter).settle(0);
    const unsent = acquired(rateLimiter);
    const early = rateLimiter.acquire("other");
    unsent.cancel();
    await early;
    let isServed = false;

    const late = rateLimiter.acquire("other").then(() => {
      isServed = true;
    });
    clock.advance(WINDOW + 1);
    await settled();

    expect(isServed).toBe(true);
    await late;
  });

  it("serves the next request at once when the one before it, the only one without room, is aborted", async () => {
    const { rateLimiter } = setUp({ bytesPerMinute: 100, share: 1 });
    const abort = new AbortController();
    acquired(rateLimiter).settle(60);
    const detail = rateLimiter.acquire("detail", abort.signal);
    const other = rateLimiter.acquire("other");

    abort.abort(new Error("stop"));

    await expect(detail).rejects.toThrow("stop");
    await expect(other).resolves.toBeDefined();
  });

  it("forgets the signal of a request that was served", async () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 1 });
    const abort = new AbortController();
    const served = await rateLimiter.acquire("other", abort.signal);
    const waiting = rateLimiter.acquire("other");

    abort.abort(new Error("stop"));
    served.settle(0);
    clock.advance(WINDOW + 1);

    await expect(waiting).resolves.toBeDefined();
  });

  it("sets no alarm when no request waits any more", async () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 1 });
    const abort = new AbortController();
    acquired(rateLimiter).settle(0);

    const waiting = [rateLimiter.acquire("other", abort.signal), rateLimiter.acquire("other", abort.signal)];
    expect(clock.sleeping).toBe(1);
    abort.abort(new Error("stop"));
    await Promise.allSettled(waiting);

    expect(clock.sleeping).toBe(0);
  });

  it("refuses a request that is already aborted", async () => {
    const { rateLimiter } = setUp();

    await expect(rateLimiter.acquire("other", AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
  });

  it.each([
    ["before a request waits", [-60 * WINDOW, 0]],
    ["while one waits", [0, -60 * WINDOW]],
  ] as const)("waits no longer when the clock is set back %s", async (_, [before, meanwhile]) => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 1 });
    acquired(rateLimiter).settle(0);
    clock.set(before);

    const waiting = rateLimiter.acquire("other");
    clock.set(meanwhile);
    clock.advance(WINDOW + 1);

    await expect(waiting).resolves.toBeDefined();
  });

  it("gives nothing more when the clock is set forward", () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 2, share: 1 });
    acquired(rateLimiter).settle(0);
    acquired(rateLimiter).settle(0);

    clock.set(10 * WINDOW);
    clock.advance(WINDOW);
    expect(free(rateLimiter)).toBe(0);
    clock.advance(1);

    expect(free(rateLimiter)).toBe(2);
  });

  it("remembers what was used also where nothing is limited, for the run after it may be", () => {
    const { rateLimiter } = setUp({ carrier: carrierOf([{ atMs: NOW, requests: 1_000, bytes: 500 }]) });

    for (let n = 0; n < 1_000; n += 1) acquired(rateLimiter).settle(1_000);

    expect(rateLimiter.usage()).toEqual([{ atMs: NOW, requests: 2_000, bytes: 1_000_500 }]);
  });
});

describe("the byte budget", () => {
  it("lets one detail through until the size of one is known", () => {
    const { rateLimiter } = setUp({ bytesPerMinute: 1_000_000 });

    const first = acquired(rateLimiter);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    expect(rateLimiter.tryAcquire("other")).toBeDefined();
    first.settle(0);
    const second = acquired(rateLimiter);
    expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
    second.settle(10);

    expect(free(rateLimiter, "detail")).toBeGreaterThan(1);
  });

  it("where it is unlimited holds no detail back until a size is known", () => {
    const { rateLimiter } = setUp({ requestsPerMinute: 10, share: 1 });

    expect(free(rateLimiter, "detail")).toBe(10);
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
    expect(free(rateLimiter, "detail")).toBe(8);
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

    expect(free(rateLimiter, "detail")).toBe(100);
  });

  it("reserves nothing for the list and the login, and counts what they used", () => {
    const { rateLimiter } = setUp({ bytesPerMinute: 1_000, share: 1 });
    acquired(rateLimiter).settle(400);

    const list = rateLimiter.tryAcquire("other");
    expect(free(rateLimiter, "detail")).toBe(1);
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
