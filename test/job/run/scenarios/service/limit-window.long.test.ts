// Limits that are averaged over a window, judged by the service that counts them: over runs one after the other, of which
// some crash.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { averaged } from "../../../../simulator/limiter.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { LimitedWorld } from "./limited-world.ts";

const MINUTE_MS = 60_000;
const TEN_MINUTES_MS = 600_000;

/** Seconds of virtual time until it has published. */
async function publish(world: LimitedWorld): Promise<number> {
  const startedAtMs = world.clock.monotonicMs();
  const { row } = await world.run();
  expect(row).toMatchObject({ outcome: "PUBLISHED", throttled: 0 });
  return (world.clock.monotonicMs() - startedAtMs) / 1_000;
}

describe("the default limits", () => {
  const DEFAULTS = { requestsPerMinute: 200, bytesPerMinute: 10_485_760, concurrency: 16 } as const;
  const events = makeEvents(1_000);

  test("averaged over ten minutes let a run of 1,000 events take seconds, and the runs after it wait", async () => {
    await using world = await LimitedWorld.start(
      { events, limits: averaged(TEN_MINUTES_MS, { requests: 200, bytes: 10_485_760 }), latencyMs: 40 },
      { ...DEFAULTS, windowMs: TEN_MINUTES_MS },
    );

    const seconds = [await publish(world), await publish(world), await publish(world)];

    expect(seconds[0]).toBeLessThan(15);
    expect(seconds[1]).toBeGreaterThan(500);
    expect(Math.max(...seconds)).toBeLessThan(610);
    expect(world.counts.requests).toBe(3 * 1_002);
    expect(world.counts.fullestWindow.requests).toBeLessThanOrEqual(1_800);
  });

  test("are kept where the window becomes longer between two runs", async () => {
    await using world = await LimitedWorld.start(
      { events: makeEvents(1_000), limits: averaged(TEN_MINUTES_MS, { requests: 200 }) },
      { ...DEFAULTS, windowMs: MINUTE_MS },
    );
    const { sandbox } = world;

    await publish(world);
    sandbox.settings = { ...sandbox.settings, windowMs: TEN_MINUTES_MS };
    await publish(world);
    await publish(world);

    expect(world.counts.fullestWindow.requests).toBeLessThanOrEqual(1_800);
  });
});

test("a run after a crash waits for what was sent and a minute's budget, not for a window's", async () => {
  await using world = await LimitedWorld.start(
    { events: makeEvents(300), limits: averaged(TEN_MINUTES_MS, { requests: 200 }) },
    { requestsPerMinute: 200, windowMs: TEN_MINUTES_MS, rangeEvents: 10 },
  );

  await world.crash(4, "after");
  const seconds = await publish(world);

  expect(world.counts.requests).toBeGreaterThan(300);
  expect(seconds).toBeLessThan(60);
});

test("no window of the service is over its limit, whatever limits, window, latencies, bodies, pauses and crashes", async () => {
  const step = fc.record({
    crashAt: fc.option(fc.integer({ min: 2, max: 12 }), { freq: 3 }),
    pauseMs: fc.oneof(fc.constant(0), fc.nat(MINUTE_MS), fc.nat(20 * MINUTE_MS)),
    events: fc.integer({ min: 5, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        windowSeconds: fc.oneof(fc.constantFrom(10, 60, 600, 3_600), fc.integer({ min: 10, max: 3_600 })),
        atOnce: fc.integer({ min: 6, max: 100 }),
        length: fc.integer({ min: 200, max: 6_000 }),
        concurrency: fc.integer({ min: 1, max: 12 }),
        latencies: fc.array(fc.nat(9_000), { minLength: 1, maxLength: 5 }),
        encoding: fc.constantFrom("gzip" as const, undefined),
        isBoundByBytes: fc.boolean(),
        steps: fc.array(step, { minLength: 2, maxLength: 4 }),
      }),
      async ({ windowSeconds, atOnce, length, concurrency, latencies, encoding, isBoundByBytes, steps }) => {
        const windowMs = windowSeconds * 1_000;
        const requestsPerMinute = Math.ceil((atOnce * MINUTE_MS) / windowMs);
        // Bodies that are larger than any before, and the list, must fit into the tenth that is not used.
        const perWindow = 10 * ((concurrency + 2) * (length + 1_000) + 60 * 400);
        const bytesPerMinute = isBoundByBytes ? Math.ceil((perWindow * MINUTE_MS) / windowMs) : "unlimited";
        const limits = averaged(windowMs, {
          requests: requestsPerMinute,
          ...(bytesPerMinute === "unlimited" ? {} : { bytes: bytesPerMinute }),
        });
        await using world = await LimitedWorld.start(
          { events: [], limits, encoding, latencyMs: ({ n }) => latencies[n % latencies.length] ?? 0 },
          { requestsPerMinute, bytesPerMinute, windowMs, concurrency, rangeEvents: 7 },
        );
        const { sandbox, clock } = world;

        for (const { crashAt, pauseMs, events } of steps) {
          sandbox.simulator.setEvents(makeEvents(events, { length }));
          if (crashAt === null) await world.run();
          else await world.crash(crashAt, "after");
          clock.advance(1 + pauseMs);
        }

        const { fullestWindow, statuses } = world.counts;
        expect(statuses.get(429) ?? 0).toBe(0);
        expect(fullestWindow.requests).toBeLessThanOrEqual(limits.requestsPerWindow ?? 0);
        expect(fullestWindow.bytes).toBeLessThanOrEqual(limits.bytesPerWindow ?? Number.POSITIVE_INFINITY);
      },
    ),
    { numRuns: 40 },
  );
});
