import { describe, expect, it } from "vitest";
import { acquired, free, NOW, settled, setUp, WINDOW } from "./rate-limiter-setup.ts";

describe("the request budget", () => {
  it.each([
    [200, undefined, 180],
    [200, 1, 200],
    [15, undefined, 13],
    [1, undefined, 1],
    [1, 0.1, 1],
  ])("of %s with share %s lets %i through at once", (requestsPerWindow, share, expected) => {
    const { budget } = setUp({ requestsPerWindow, ...(share === undefined ? {} : { share }) });

    expect(free(budget)).toBe(expected);
  });

  it("gives a request's place free a window after its answer", () => {
    const { clock, budget } = setUp({ requestsPerWindow: 1 });

    const permit = acquired(budget);
    clock.advance(10 * WINDOW);
    expect(budget.tryAcquire("detail")).toBeUndefined();
    permit.settle(0);
    clock.advance(WINDOW);
    expect(budget.tryAcquire("detail")).toBeUndefined();
    clock.advance(1);

    expect(budget.tryAcquire("detail")).toBeDefined();
  });

  it("gives the place of a request that was not sent free at once", () => {
    const { budget } = setUp({ requestsPerWindow: 1 });

    acquired(budget).cancel();

    expect(budget.tryAcquire("detail")).toBeDefined();
  });

  it("counts a permit once, however often it is ended", () => {
    const { budget } = setUp({ requestsPerWindow: 10, share: 1 });
    const permit = acquired(budget);

    permit.settle(7);
    permit.settle(7);
    permit.cancel();

    expect(budget.use()).toEqual([{ atMs: NOW, requests: 1, bytes: 7 }]);
  });

  it("serves those who wait in the order they came", async () => {
    const { clock, budget } = setUp({ requestsPerWindow: 1 });
    const order: number[] = [];
    acquired(budget).settle(0);

    const waiting = [1, 2, 3].map(async (n) => {
      const permit = await budget.acquire("other");
      order.push(n);
      permit.settle(0);
    });
    for (let n = 0; n < 3; n += 1) {
      clock.advance(WINDOW + 1);
      await settled();
      expect(budget.tryAcquire("other")).toBeUndefined();
    }
    await Promise.all(waiting);

    expect(order).toEqual([1, 2, 3]);
  });

  it("lets nobody pass by those who wait", async () => {
    const { budget } = setUp({ bytesPerWindow: 100, share: 1 });
    acquired(budget).settle(60);
    const detail = budget.acquire("detail");

    expect(budget.tryAcquire("other")).toBeUndefined();

    detail.catch(() => undefined);
  });

  it("goes on without one who gives up", async () => {
    const { clock, budget } = setUp({ requestsPerWindow: 1 });
    const abort = new AbortController();
    acquired(budget).settle(0);
    const first = budget.acquire("other", abort.signal);
    const second = budget.acquire("other");

    abort.abort(new Error("stop"));
    await expect(first).rejects.toThrow("stop");
    clock.advance(WINDOW + 1);

    await expect(second).resolves.toBeDefined();
  });

  it("serves the next at once when the one before, who alone had no room, gives up", async () => {
    const { budget } = setUp({ bytesPerWindow: 100, share: 1 });
    const abort = new AbortController();
    acquired(budget).settle(60);
    const detail = budget.acquire("detail", abort.signal);
    const other = budget.acquire("other");

    abort.abort(new Error("stop"));

    await expect(detail).rejects.toThrow("stop");
    await expect(other).resolves.toBeDefined();
  });

  it("forgets the signal of one who was served", async () => {
    const { clock, budget } = setUp({ requestsPerWindow: 1 });
    const abort = new AbortController();
    const served = await budget.acquire("other", abort.signal);
    const waiting = budget.acquire("other");

    abort.abort(new Error("stop"));
    served.settle(0);
    clock.advance(WINDOW + 1);

    await expect(waiting).resolves.toBeDefined();
  });

  it("sets no alarm once nobody waits any more", async () => {
    const { clock, budget } = setUp({ requestsPerWindow: 1 });
    const abort = new AbortController();
    acquired(budget).settle(0);

    const waiting = [budget.acquire("other", abort.signal), budget.acquire("other", abort.signal)];
    expect(clock.sleeping).toBe(1);
    abort.abort(new Error("stop"));
    await Promise.allSettled(waiting);

    expect(clock.sleeping).toBe(0);
  });

  it("refuses one who has given up already", async () => {
    const { budget } = setUp();

    await expect(budget.acquire("other", AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
  });

  it("does not wait longer when the clock is set back", async () => {
    const { clock, budget } = setUp({ requestsPerWindow: 1 });
    acquired(budget).settle(0);
    clock.set(-60 * WINDOW);

    const waiting = budget.acquire("other");
    clock.advance(WINDOW + 1);

    await expect(waiting).resolves.toBeDefined();
  });

  it("goes on when the clock is set back while somebody waits", async () => {
    const { clock, budget } = setUp({ requestsPerWindow: 1 });
    acquired(budget).settle(0);
    const waiting = budget.acquire("other");

    clock.set(-60 * WINDOW);
    clock.advance(WINDOW + 1);

    await expect(waiting).resolves.toBeDefined();
  });

  it("gives nothing more when the clock is set forward", () => {
    const { clock, budget } = setUp({ requestsPerWindow: 2, share: 1 });
    acquired(budget).settle(0);
    acquired(budget).settle(0);

    clock.set(10 * WINDOW);
    clock.advance(WINDOW);
    expect(free(budget)).toBe(0);
    clock.advance(1);

    expect(free(budget)).toBe(2);
  });

  it("says when the next request may go", () => {
    const { budget, clock } = setUp({ requestsPerWindow: 1 });

    expect(budget.nextMs).toBe(NOW);
    acquired(budget).settle(0);
    clock.advance(10);

    expect(budget.nextMs).toBe(NOW + WINDOW + 1);
  });

  it("remembers what was used also where nothing is limited, for the run after it may be", () => {
    const { budget } = setUp();

    for (let n = 0; n < 1_000; n += 1) acquired(budget).settle(1_000);
    budget.add([{ atMs: NOW, requests: 1_000, bytes: 500 }]);

    expect(budget.use()).toEqual([{ atMs: NOW, requests: 2_000, bytes: 1_000_500 }]);
  });
});
