// Limits that are averaged over a window, judged by the service that counts them: over runs one after the other, of
// which some crash, and over accounts beside each other.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RunSettings } from "../../../../../lambdas/job/run/run-settings.ts";
import { averaged } from "../../../../simulator/limiter.ts";
import { ManualClock } from "../../../../simulator/manual-clock.ts";
import type { SimulatorOptions } from "../../../../simulator/settings.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { Crashed, CrashPoint } from "../../crash.ts";
import { Sandbox } from "../../sandbox.ts";
import { inVirtualTime } from "./virtual-time.ts";

const MINUTE_MS = 60_000;
const TEN_MINUTES_MS = 600_000;

/** A sandbox on a clock that moves only while its runs wait. */
class Account implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly sandbox: Sandbox;

  private constructor(clock: ManualClock, sandbox: Sandbox) {
    this.clock = clock;
    this.sandbox = sandbox;
  }

  static async open(
    service: SimulatorOptions,
    settings: Partial<RunSettings>,
    clock = new ManualClock(Date.UTC(2026, 0, 1)),
  ): Promise<Account> {
    return new Account(clock, await Sandbox.start({ clock, ...service }, settings, clock));
  }

  /** Seconds of virtual time until it has published. */
  async publish(): Promise<number> {
    this.clock.advance(1);
    const startedAtMs = this.clock.monotonicMs();
    const { row } = await inVirtualTime(this.clock, this.sandbox.simulator, this.sandbox.run());
    expect(row).toMatchObject({ outcome: "PUBLISHED", throttled: 0 });
    return (this.clock.monotonicMs() - startedAtMs) / 1_000;
  }

  /** A run that dies at its n-th effect, or ends before it. */
  async crash(effect: number): Promise<void> {
    this.clock.advance(1);
    const ports = this.sandbox.ports();
    const point = new CrashPoint(effect, "after");
    const { store, catalog } = point.wrap(ports);
    const dead = new AbortController();
    const replace: typeof store.replace = (...given) =>
      store.replace(...given).catch((error: unknown) => {
        dead.abort(error); // a process that dies while it renews its lease sends nothing any more
        throw error;
      });
    const changes = { ...ports, store: { ...store, replace }, catalog, signal: dead.signal };
    const run = this.sandbox.run({}, changes);
    await inVirtualTime(this.clock, this.sandbox.simulator, run).catch((error: unknown) => {
      if (!(error instanceof Crashed)) throw error;
    });
    this.sandbox.dead.add(ports.process.pid ?? 0);
  }

  get counts(): Sandbox["simulator"]["counts"] {
    return this.sandbox.simulator.counts;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.sandbox[Symbol.asyncDispose]();
  }
}

describe("the default limits", () => {
  const DEFAULTS = { requestsPerMinute: 200, bytesPerMinute: 10_485_760, concurrency: 16 } as const;
  const events = makeEvents(1_000);

  test("averaged over ten minutes let a run of 1,000 events take seconds, and the runs after it wait", async () => {
    await using account = await Account.open(
      { events, limits: averaged(TEN_MINUTES_MS, { requests: 200, bytes: 10_485_760 }), latencyMs: 40 },
      { ...DEFAULTS, windowMs: TEN_MINUTES_MS },
    );

    const seconds = [await account.publish(), await account.publish(), await account.publish()];

    expect(seconds[0]).toBeLessThan(15);
    expect(seconds[1]).toBeGreaterThan(500);
    expect(Math.max(...seconds)).toBeLessThan(610);
    expect(account.counts.requests).toBe(3 * 1_002);
    expect(account.counts.fullestWindow.requests).toBeLessThanOrEqual(1_800);
  });

  test("in a window of a minute are those of every minute", async () => {
    await using account = await Account.open(
      { events: makeEvents(400), limits: averaged(MINUTE_MS, { requests: 200 }), latencyMs: 40 },
      { ...DEFAULTS, windowMs: MINUTE_MS },
    );

    const seconds = [await account.publish(), await account.publish()];

    expect(seconds[0]).toBeGreaterThan(120);
    expect(account.counts.fullestWindow.requests).toBe(180);
    expect(account.counts.requests).toBe(2 * 402);
  });

  test("are kept where the window becomes longer between two runs", async () => {
    await using account = await Account.open(
      { events: makeEvents(1_000), limits: averaged(TEN_MINUTES_MS, { requests: 200 }) },
      { ...DEFAULTS, windowMs: MINUTE_MS },
    );
    const { sandbox } = account;

    await account.publish();
    sandbox.settings = { ...sandbox.settings, windowMs: TEN_MINUTES_MS };
    await account.publish();
    await account.publish();

    expect(account.counts.fullestWindow.requests).toBeLessThanOrEqual(1_800);
  });
});

test("bytes are counted after decompression, by both sides", async () => {
  const bytes = 120_000;
  const limits = averaged(TEN_MINUTES_MS, { bytes });
  const compressible = makeEvents(300, { length: 8_000 });
  await using account = await Account.open(
    { events: compressible, limits, encoding: "gzip" },
    { bytesPerMinute: bytes, windowMs: TEN_MINUTES_MS },
  );

  const first = await account.publish();
  await account.publish();

  const { fullestWindow, statuses } = account.counts;
  expect(first).toBeGreaterThan(600);
  expect(fullestWindow.bytes).toBeLessThanOrEqual(10 * bytes);
  expect(fullestWindow.bytes).toBeGreaterThan(8 * bytes);
  expect(statuses.get(429)).toBeUndefined();
});

test("a run after a crash waits for what was sent and a minute's budget, not for a window's", async () => {
  await using account = await Account.open(
    { events: makeEvents(300), limits: averaged(TEN_MINUTES_MS, { requests: 200 }) },
    { requestsPerMinute: 200, windowMs: TEN_MINUTES_MS, rangeEvents: 10 },
  );

  await account.crash(4);
  const seconds = await account.publish();

  expect(account.counts.requests).toBeGreaterThan(300);
  expect(seconds).toBeLessThan(60);
});

test("accounts beside each other have budgets of their own", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const service = { events: makeEvents(300), limits: averaged(TEN_MINUTES_MS, { requests: 20 }) };
  const settings = { requestsPerMinute: 20, windowMs: TEN_MINUTES_MS };
  await using uk = await Account.open(service, settings, clock);
  await using us = await Account.open(service, settings, clock);
  us.sandbox.account = "us";
  const both = {
    get requests() {
      return [...uk.sandbox.simulator.requests, ...us.sandbox.simulator.requests];
    },
  };
  const { store } = uk.sandbox;

  const runs = Promise.all([uk.sandbox.run(), us.sandbox.run({}, { store })]);
  const results = await inVirtualTime(clock, both, runs, 2);

  expect(results.map(({ row }) => row.outcome)).toEqual(["PUBLISHED", "PUBLISHED"]);
  for (const { counts } of [uk, us]) {
    expect(counts.requests).toBe(302);
    expect(counts.fullestWindow.requests).toBe(180);
    expect(counts.statuses.get(429)).toBeUndefined();
  }
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
        await using account = await Account.open(
          { events: [], limits, encoding, latencyMs: ({ n }) => latencies[n % latencies.length] ?? 0 },
          { requestsPerMinute, bytesPerMinute, windowMs, concurrency, rangeEvents: 7 },
        );
        const { sandbox, clock } = account;

        for (const { crashAt, pauseMs, events } of steps) {
          sandbox.simulator.setEvents(makeEvents(events, { length }));
          if (crashAt === null) await inVirtualTime(clock, sandbox.simulator, sandbox.run());
          else await account.crash(crashAt);
          clock.advance(1 + pauseMs);
        }

        const { fullestWindow, statuses } = account.counts;
        expect(statuses.get(429) ?? 0).toBe(0);
        expect(fullestWindow.requests).toBeLessThanOrEqual(limits.requestsPerWindow ?? 0);
        expect(fullestWindow.bytes).toBeLessThanOrEqual(limits.bytesPerWindow ?? Number.POSITIVE_INFINITY);
      },
    ),
    { numRuns: 40 },
  );
});
