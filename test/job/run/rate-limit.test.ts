// Against a service that counts: told of its limit we never meet it, not told we obey its 429s.

import { describe, expect, test } from "vitest";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { acceleratedClock, settableClock } from "../../simulator/clocks.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Crashed, CrashPoint } from "./crash.ts";
import { ACCOUNT, Sandbox } from "./sandbox.ts";

const LEASE = `accounts/${ACCOUNT}/lease.json`;
const WINDOW_MS = 30_000; // 300 ms of a test's time

describe("a request limit", () => {
  test("that we are told of is never met, also by a run right after another", async () => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(45), limits: { requestsPerWindow: 40, windowMs: WINDOW_MS } },
      { requestsPerMinute: 40, windowMs: WINDOW_MS },
    );

    const first = await sandbox.run();
    const second = await sandbox.run();

    expect([first.row.outcome, second.row.outcome]).toEqual(["PUBLISHED", "PUBLISHED"]);
    const { statuses, fullestWindow } = sandbox.simulator.counts;
    expect(statuses.get(429)).toBeUndefined();
    expect(fullestWindow.requests).toBeLessThanOrEqual(40);
    expect(first.row).toMatchObject({ requests: 47, throttled: 0 });
  });

  test("is not met by a run right after one that had no limit", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(30), limits: { windowMs: WINDOW_MS } });
    sandbox.settings = { ...sandbox.settings, windowMs: WINDOW_MS };
    await sandbox.run();
    sandbox.settings = { ...sandbox.settings, requestsPerMinute: 40 };

    await sandbox.run();

    expect(sandbox.simulator.counts.fullestWindow.requests).toBeLessThanOrEqual(40);
  });

  test("is not met by a start after a crash either, though nobody counted what the dead process sent", async () => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(30), limits: { requestsPerWindow: 40, windowMs: WINDOW_MS } },
      { requestsPerMinute: 40, windowMs: WINDOW_MS },
    );
    const ports = sandbox.ports();
    const point = new CrashPoint(4);
    const crashed = sandbox.run({}, { ...ports, ...point.wrap(ports) });
    await expect(crashed).rejects.toThrow(Crashed);
    sandbox.dead.add(ports.process.pid ?? 0);

    const { row } = await sandbox.run();

    expect(point.effects.at(-1)).toContain("shard-00000");
    expect(row.outcome).toBe("PUBLISHED");
    const { statuses, fullestWindow } = sandbox.simulator.counts;
    expect(statuses.get(429)).toBeUndefined();
    expect(fullestWindow.requests).toBeLessThanOrEqual(40);
  });

  test("is not met by a start that finds the lease damaged, though what was used is not known", async () => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(30), limits: { requestsPerWindow: 40, windowMs: WINDOW_MS } },
      { requestsPerMinute: 40, windowMs: WINDOW_MS },
    );
    await sandbox.run();
    sandbox.store.put(LEASE, sandbox.store.text(LEASE)?.slice(0, 40) ?? "");

    const { row } = await sandbox.run();

    expect(row.outcome).toBe("PUBLISHED");
    expect(sandbox.log.text).toContain(`the file ${LEASE} is damaged; it is made again`);
    const { statuses, fullestWindow } = sandbox.simulator.counts;
    expect(statuses.get(429)).toBeUndefined();
    expect(fullestWindow.requests).toBeLessThanOrEqual(40);
  });

  test("is not met by the second start after a crash, where the first one sent nothing", async () => {
    await using sandbox = await Sandbox.start(
      { events: makeEvents(30), limits: { requestsPerWindow: 40, windowMs: WINDOW_MS } },
      { requestsPerMinute: 40, windowMs: WINDOW_MS },
    );
    await sandbox.run();
    sandbox.store.put(LEASE, "");
    const credentials = new SyncError("CREDENTIALS_INVALID", "There is no such file.");
    const failed = await sandbox.run({}, { openService: () => Promise.reject(credentials) });

    const { row } = await sandbox.run();

    expect([failed.row.error_code, row.outcome]).toEqual(["CREDENTIALS_INVALID", "PUBLISHED"]);
    expect(sandbox.simulator.counts.fullestWindow.requests).toBeLessThanOrEqual(40);
  });

  test.each([
    { when: "forward", byMs: 600_000 },
    { when: "back", byMs: -600_000 },
  ])(
    "is neither met nor slows a run down for the clock's being set $when in the middle",
    async ({ byMs }) => {
      const clock = acceleratedClock(100);
      const ours = settableClock(clock);
      await using sandbox = await Sandbox.start(
        { clock, events: makeEvents(60), limits: { requestsPerWindow: 40, windowMs: WINDOW_MS } },
        { requestsPerMinute: 40, windowMs: WINDOW_MS },
        ours,
      );
      const startedAtMs = clock.monotonicMs();
      let isSet = false;

      const { row } = await sandbox.run(
        {},
        {
          onProgress: ({ done }) => {
            if (done < 20 || isSet) return;
            isSet = true;
            ours.set(byMs);
          },
        },
      );

      expect(isSet).toBe(true);
      expect(row).toMatchObject({ outcome: "PUBLISHED", events: 60, throttled: 0 });
      expect(row.seconds).toBeGreaterThan(1);
      expect(row.seconds).toBeLessThan(300);
      expect(sandbox.simulator.counts.fullestWindow.requests).toBeLessThanOrEqual(40);
      expect(clock.monotonicMs() - startedAtMs).toBeLessThan(10 * WINDOW_MS);
    },
  );

  test.each(["seconds", "http-date"] as const)(
    "that we are not told of is obeyed: nobody sends while a Retry-After in %s lasts",
    async (retryAfter) => {
      await using sandbox = await Sandbox.start({
        events: makeEvents(60),
        limits: { requestsPerWindow: 25, windowMs: WINDOW_MS, retryAfter },
        latencyMs: 200,
      });

      const { row } = await sandbox.run();

      expect(row).toMatchObject({ outcome: "PUBLISHED", events: 60 });
      expect(row.throttled).toBeGreaterThan(0);
      expect(sandbox.simulator.counts.requestsDuringRetryAfter).toBe(0);
      expect(await sandbox.events()).toEqual(sandbox.truth());
    },
  );
});

describe("a limit of bytes", () => {
  test("that we are told of is never met", async () => {
    const bytesPerWindow = 40_000;
    await using sandbox = await Sandbox.start(
      { events: makeEvents(50, { length: 2_000 }), limits: { bytesPerWindow, windowMs: WINDOW_MS } },
      { bytesPerMinute: bytesPerWindow, windowMs: WINDOW_MS },
    );

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 50, throttled: 0 });
    expect(sandbox.simulator.counts.fullestWindow.bytes).toBeLessThanOrEqual(bytesPerWindow);
  });
});

describe("without a limit", () => {
  test("N requests are in flight at once", async () => {
    await using sandbox = await Sandbox.start({ latencyMs: 500 }, { concurrency: 12 });

    await sandbox.run();

    expect(sandbox.simulator.counts.maxInFlight).toBe(12);
  });
});
