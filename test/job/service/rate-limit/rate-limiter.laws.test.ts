import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type {
  RateLimiter,
  RateLimiterOptions,
} from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import type { ManualClock } from "../../../simulator/manual-clock.ts";
import { carrierOf, setUp } from "./rate-limiter-setup.ts";

const WINDOW = 100;
/** Windows of a minute. */
const A_MINUTE = 60_000 / WINDOW;

interface Arrival {
  /** Since the arrival before. */
  readonly afterMs: number;
  /** From the permit to the response; the service counts the request at some point in between. */
  readonly latencyMs: number;
  readonly countedAfter: number;
}

const arrival = fc.record({
  afterMs: fc.oneof(fc.constant(0), fc.nat(30), fc.nat(250)),
  latencyMs: fc.oneof(fc.constant(0), fc.nat(40)),
  countedAfter: fc.double({ min: 0, max: 1, noNaN: true }),
});

interface Setting {
  /** Since the first arrival. */
  readonly atMs: number;
  /** How far the wall clock is set forward, or back. */
  readonly byMs: number;
}

const setting = fc.record({ atMs: fc.nat(600), byMs: fc.integer({ min: -2_000, max: 2_000 }) });

interface Served {
  readonly index: number;
  readonly atMs: number;
  readonly countedAtMs: number;
}

/** Runs the arrivals on a simulated clock, millisecond by millisecond. */
const serve = async (
  rateLimiter: RateLimiter,
  clock: ManualClock,
  arrivals: readonly Arrival[],
  bytes: number,
  settings: readonly Setting[] = [],
): Promise<Served[]> => {
  const served: Served[] = [];
  const startedAtMs = clock.monotonicMs();
  const due = arrivals.map(({ afterMs }, index) =>
    arrivals.slice(0, index).reduce((sum, each) => sum + each.afterMs, clock.monotonicMs() + afterMs),
  );
  let answered = 0;
  const request = async ({ latencyMs, countedAfter }: Arrival, index: number): Promise<void> => {
    const permit = await rateLimiter.acquire("detail");
    const atMs = clock.monotonicMs();
    served.push({ index, atMs, countedAtMs: atMs + Math.round(latencyMs * countedAfter) });
    if (latencyMs > 0) await clock.sleep(latencyMs);
    permit.settle(bytes);
    answered += 1;
  };
  let started = 0;
  while (answered < arrivals.length) {
    for (
      let next = arrivals[started];
      next !== undefined && (due[started] ?? 0) <= clock.monotonicMs();
      next = arrivals[started]
    ) {
      void request(next, started);
      started += 1;
    }
    for (let turn = 0; turn < 6; turn += 1) await Promise.resolve();
    clock.advance(1);
    for (const { atMs, byMs } of settings) if (clock.monotonicMs() === startedAtMs + atMs) clock.set(byMs);
    for (let turn = 0; turn < 6; turn += 1) await Promise.resolve();
  }
  return served;
};

const limiter = (limits: Partial<RateLimiterOptions>) => setUp({ windowMs: WINDOW, share: 1, ...limits });

/** The most of them that a service sees in any window, both edges counted. */
const fullest = (instants: readonly number[]): number =>
  Math.max(
    0,
    ...instants.map((fromMs) => instants.filter((ms) => ms >= fromMs && ms <= fromMs + WINDOW).length),
  );

describe("the budget, whatever the arrivals", () => {
  const anyArrivals = (maxLength = 25) => fc.array(arrival, { maxLength });
  const anyLimit = fc.integer({ min: 1, max: 8 });
  const RUNS = { numRuns: 40 };

  it("fills no window of the service's over the allowance, and serves first come, first served [D17]", async () => {
    await fc.assert(
      fc.asyncProperty(anyArrivals(), anyLimit, async (arrivals, limit) => {
        const { clock, rateLimiter } = limiter({ requestsPerMinute: limit * A_MINUTE });

        const served = await serve(rateLimiter, clock, arrivals, 0);

        expect(fullest(served.map(({ countedAtMs }) => countedAtMs))).toBeLessThanOrEqual(limit);
        expect(served.map(({ index }) => index)).toEqual(arrivals.map((_, index) => index));
      }),
      RUNS,
    );
  });

  it("fills no window over the allowance of bytes where all details are of one size [D17]", async () => {
    await fc.assert(
      fc.asyncProperty(anyArrivals(), anyLimit, async (arrivals, limit) => {
        const { clock, rateLimiter } = limiter({ bytesPerMinute: (limit * 10 + 9) * A_MINUTE });

        const served = await serve(rateLimiter, clock, arrivals, 10);

        expect(fullest(served.map(({ countedAtMs }) => countedAtMs))).toBeLessThanOrEqual(limit);
      }),
      RUNS,
    );
  });

  it("fills no window that two budgets share, one after the other, over the allowance, wherever the clock is set", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyArrivals(12),
        anyArrivals(12),
        anyLimit,
        fc.array(setting, { maxLength: 4 }),
        async (before, after, limit, settings) => {
          const requestsPerMinute = limit * A_MINUTE;
          const { clock, rateLimiter: first } = limiter({ requestsPerMinute });

          const early = await serve(first, clock, before, 0, settings);
          const { rateLimiter: second } = limiter({
            requestsPerMinute,
            clock,
            carrier: carrierOf(first.usage()),
          });
          const late = await serve(second, clock, after, 0, settings);

          expect(fullest([...early, ...late].map(({ countedAtMs }) => countedAtMs))).toBeLessThanOrEqual(
            limit,
          );
        },
      ),
      RUNS,
    );
  });
});
