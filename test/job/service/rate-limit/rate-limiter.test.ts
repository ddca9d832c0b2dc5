import { describe, expect, it } from "vitest";
import { acquired, free, NOW, settled, setUp, WINDOW } from "./rate-limiter-setup.ts";

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

  it("does not wait longer when the clock is set back", async () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 1 });
    acquired(rateLimiter).settle(0);
    clock.set(-60 * WINDOW);

    const waiting = rateLimiter.acquire("other");
    clock.advance(WINDOW + 1);

    await expect(waiting).resolves.toBeDefined();
  });

  it("continues when the clock is set back while a request waits", async () => {
    const { clock, rateLimiter } = setUp({ requestsPerMinute: 1 });
    acquired(rateLimiter).settle(0);
    const waiting = rateLimiter.acquire("other");

    clock.set(-60 * WINDOW);
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
    const { rateLimiter } = setUp({ earlier: [{ atMs: NOW, requests: 1_000, bytes: 500 }] });

    for (let n = 0; n < 1_000; n += 1) acquired(rateLimiter).settle(1_000);

    expect(rateLimiter.usage()).toEqual([{ atMs: NOW, requests: 2_000, bytes: 1_000_500 }]);
  });
});
