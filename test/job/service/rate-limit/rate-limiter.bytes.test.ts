import { describe, expect, it } from "vitest";
import type { RateLimiter } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { acquired, setUp, WINDOW } from "./rate-limiter-setup.ts";

describe("the byte budget", () => {
  const details = (budget: RateLimiter): number => {
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
