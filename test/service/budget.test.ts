import { describe, expect, it } from "vitest";
import { Budget, type BudgetOptions, type Permit } from "../../lambdas/service/budget.ts";
import { ManualClock } from "../simulator/manual-clock.ts";

const NOW = 1_000_000_000;
const WINDOW = 60_000;

const setUp = (options: Partial<BudgetOptions> = {}) => {
  const clock = new ManualClock(NOW);
  const budget = new Budget({
    requestsPerWindow: "unlimited",
    bytesPerWindow: "unlimited",
    clock,
    ...options,
  });
  return { clock, budget };
};

/** Lets promises that are settled run their continuations. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

const acquired = (budget: Budget): Permit => {
  const permit = budget.tryAcquire("detail");
  if (permit === undefined) throw new Error("no permit");
  return permit;
};

const free = (budget: Budget): number => {
  let count = 0;
  while (count < 1_000 && budget.tryAcquire("other") !== undefined) count += 1;
  return count;
};

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
    clock.advance(-60 * WINDOW);

    const waiting = budget.acquire("other");
    clock.advance(WINDOW + 1);

    await expect(waiting).resolves.toBeDefined();
  });

  it("goes on when the clock is set back while somebody waits", async () => {
    const { clock, budget } = setUp({ requestsPerWindow: 1 });
    acquired(budget).settle(0);
    const waiting = budget.acquire("other");

    clock.advance(-60 * WINDOW);
    for (let n = 0; n < 61; n += 1) {
      clock.advance(WINDOW + 1);
      await settled();
    }

    await expect(waiting).resolves.toBeDefined();
  });

  it("says when the next request may go", () => {
    const { budget, clock } = setUp({ requestsPerWindow: 1 });

    expect(budget.nextMs).toBe(NOW);
    acquired(budget).settle(0);
    clock.advance(10);

    expect(budget.nextMs).toBe(NOW + WINDOW + 1);
  });

  it("remembers nothing where nothing is limited", () => {
    const { budget } = setUp();

    for (let n = 0; n < 1_000; n += 1) acquired(budget).settle(1_000_000);
    budget.add([{ atMs: NOW, requests: 1_000, bytes: 1_000 }]);

    expect(budget.use()).toEqual([]);
  });
});

describe("the byte budget", () => {
  const details = (budget: Budget): number => {
    let count = 0;
    while (count < 1_000 && budget.tryAcquire("detail") !== undefined) count += 1;
    return count;
  };

  it("lets one detail through until the size of one is known", () => {
    const { budget } = setUp({ bytesPerWindow: 1_000_000 });

    const first = acquired(budget);
    expect(budget.tryAcquire("detail")).toBeUndefined();
    expect(budget.tryAcquire("other")).toBeDefined();
    first.settle(0);
    const second = acquired(budget);
    expect(budget.tryAcquire("detail")).toBeUndefined();
    second.settle(10);

    expect(details(budget)).toBeGreaterThan(1);
  });

  it("reserves the largest of late for each detail in flight", () => {
    const { budget } = setUp({ bytesPerWindow: 1_000, share: 1 });

    acquired(budget).settle(100);
    acquired(budget).settle(50);

    // 150 are used; 8 × 100 fit into the remaining 850.
    expect(details(budget)).toBe(8);
  });

  it("forgets the size of a detail after a hundred others", () => {
    const { clock, budget } = setUp({ bytesPerWindow: 1_000, share: 1 });
    acquired(budget).settle(900);
    for (let n = 0; n < 100; n += 1) {
      clock.advance(WINDOW + 1);
      acquired(budget).settle(10);
    }
    clock.advance(WINDOW + 1);

    expect(details(budget)).toBe(100);
  });

  it("reserves nothing for the list and the login, and counts what they used", () => {
    const { budget } = setUp({ bytesPerWindow: 1_000, share: 1 });
    acquired(budget).settle(400);

    const list = budget.tryAcquire("other");
    expect(details(budget)).toBe(1);
    list?.settle(600);

    expect(budget.tryAcquire("other")).toBeUndefined();
  });

  it("lets a detail larger than the budget through when nothing is in flight and the window is empty", () => {
    const { clock, budget } = setUp({ bytesPerWindow: 10, share: 1 });

    acquired(budget).settle(1_000);
    expect(budget.tryAcquire("detail")).toBeUndefined();
    clock.advance(WINDOW + 1);
    const second = budget.tryAcquire("detail");
    expect(second).toBeDefined();
    expect(budget.tryAcquire("detail")).toBeUndefined();
  });

  it("serves the next when a smaller body than reserved makes room", async () => {
    const { budget } = setUp({ bytesPerWindow: 250, share: 1 });
    acquired(budget).settle(100);
    const inFlight = acquired(budget);
    const waiting = budget.acquire("detail");

    inFlight.settle(10);

    await expect(waiting).resolves.toBeDefined();
  });
});

describe("the use of the last window", () => {
  it("is told in at most about 60 buckets, each not before what it holds", () => {
    const { clock, budget } = setUp({ requestsPerWindow: 100_000, bytesPerWindow: "unlimited" });
    for (let n = 0; n < 600; n += 1) {
      acquired(budget).settle(3);
      clock.advance(100);
    }

    const use = budget.use();

    expect(use.length).toBeLessThanOrEqual(62);
    expect(use.reduce((sum, { requests }) => sum + requests, 0)).toBe(600);
    expect(use.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(1_800);
    expect(use.every(({ atMs }) => atMs % 1_000 === 0)).toBe(true);
    expect(use.at(0)?.atMs).toBeGreaterThanOrEqual(NOW);
  });

  it("holds what is in flight as if it were answered now, with the bytes reserved for it", () => {
    const { clock, budget } = setUp({ requestsPerWindow: 100, bytesPerWindow: 1_000 });
    acquired(budget).settle(40);
    clock.advance(500);
    acquired(budget);
    acquired(budget);

    expect(budget.use()).toEqual([
      { atMs: NOW, requests: 1, bytes: 40 },
      { atMs: NOW + 500, requests: 2, bytes: 80 },
    ]);
  });

  it("is no longer told after a window", () => {
    const { clock, budget } = setUp({ requestsPerWindow: 100 });
    acquired(budget).settle(40);
    clock.advance(WINDOW + 1);

    expect(budget.use()).toEqual([]);
  });

  it("counts in the next budget, also where its instants were rounded into the future", () => {
    const { clock, budget } = setUp({ requestsPerWindow: 10, share: 1 });
    clock.advance(1);
    for (let n = 0; n < 4; n += 1) acquired(budget).settle(0);
    clock.advance(100);

    const next = new Budget({
      requestsPerWindow: 10,
      bytesPerWindow: "unlimited",
      share: 1,
      clock,
      earlier: budget.use(),
    });

    expect(free(next)).toBe(6);
    expect(next.use()[0]?.atMs).toBe(NOW + 1_000);
    clock.advance(WINDOW + 1);
    next.add([{ atMs: NOW, requests: 5, bytes: 0 }]);
    expect(next.use()).toEqual([{ atMs: expect.any(Number), requests: 6, bytes: 0 }]);
  });
});
