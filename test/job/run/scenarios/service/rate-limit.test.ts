// Against a service that counts: a limit that is configured is never reached.

import { describe, expect, test } from "vitest";
import type { RunPorts } from "../../../../../lambdas/job/run/run-ports.ts";
import { settableClock } from "../../../../simulator/clocks.ts";
import { ManualClock } from "../../../../simulator/manual-clock.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { Sandbox } from "../../sandbox.ts";
import { ALLOWED, inVirtualTime, LIMIT, LimitedWorld, PER_MINUTE, WINDOW_MS } from "./limited-world.ts";

describe("a request limit that is configured", () => {
  test("is used up to 90 %, also by a run right after another", async () => {
    await using world = await LimitedWorld.start({ events: makeEvents(45) });

    const first = await world.run();
    const second = await world.run();

    expect([first.row.outcome, second.row.outcome]).toEqual(["PUBLISHED", "PUBLISHED"]);
    expect([world.fullest, world.refused]).toEqual([ALLOWED, 0]);
    expect(first.row).toMatchObject({ requests: 47, throttled: 0 });
  });

  test("is not exceeded by a run right after one that had no limit", async () => {
    await using world = await LimitedWorld.start(
      { events: makeEvents(30), limits: { windowMs: WINDOW_MS } },
      { requestsPerMinute: "unlimited" },
    );
    const { sandbox } = world;
    await world.run();
    sandbox.settings = { ...sandbox.settings, requestsPerMinute: PER_MINUTE };

    await world.run();

    expect(world.fullest).toBeLessThanOrEqual(ALLOWED);
  });

  test.each([
    { clock: "ten minutes ahead", byMs: 600_000 },
    { clock: "a window ahead", byMs: WINDOW_MS + 1_000 },
    { clock: "ten minutes behind", byMs: -600_000 },
  ])("is not exceeded by a run on a computer whose clock is $clock [D17]", async ({ byMs }) => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const ours = settableClock(clock);
    await using sandbox = await Sandbox.start(
      { clock, events: makeEvents(30), limits: { requestsPerWindow: LIMIT, windowMs: WINDOW_MS } },
      { requestsPerMinute: PER_MINUTE, windowMs: WINDOW_MS },
      ours,
    );
    await inVirtualTime(clock, sandbox.simulator, sandbox.run());
    const firstMs = clock.monotonicMs();
    ours.set(byMs);

    const process = { host: "another" };
    await inVirtualTime(clock, sandbox.simulator, sandbox.run({}, { process }));

    expect(sandbox.simulator.counts.fullestWindow.requests).toBeLessThanOrEqual(ALLOWED);
    expect(clock.monotonicMs() - firstMs).toBeLessThan(3 * WINDOW_MS);
  });

  test("is not exceeded by a start after a crash, though what the crashed process sent is not known", async () => {
    await using world = await LimitedWorld.start(
      { events: makeEvents(60) },
      { requestsPerMinute: PER_MINUTE, rangeEvents: 20 },
    );
    await world.crash("rows-00000020");
    expect(world.sandbox.simulator.counts.requests).toBeGreaterThan(20);

    const { row } = await world.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 60 });
    expect([world.fullest, world.refused]).toEqual([ALLOWED, 0]);
  });

  test.each([
    { when: "forward", byMs: 600_000 },
    { when: "back", byMs: -600_000 },
  ])(
    "is neither exceeded nor slows a run down where the clock is set $when in the middle",
    async ({ byMs }) => {
      const clock = new ManualClock(Date.UTC(2026, 0, 1));
      const ours = settableClock(clock);
      await using sandbox = await Sandbox.start(
        { clock, events: makeEvents(60), limits: { requestsPerWindow: LIMIT, windowMs: WINDOW_MS } },
        { requestsPerMinute: PER_MINUTE, windowMs: WINDOW_MS },
        ours,
      );
      const startedAtMs = clock.monotonicMs();
      let isSet = false;
      const onProgress: RunPorts["onProgress"] = ({ done }) => {
        if (done < 20 || isSet) return;
        isSet = true;
        ours.set(byMs);
      };

      const { row } = await inVirtualTime(clock, sandbox.simulator, sandbox.run({}, { onProgress }));

      expect(isSet).toBe(true);
      expect(row).toMatchObject({ outcome: "PUBLISHED", events: 60, throttled: 0 });
      expect(row.seconds).toBeGreaterThan(1);
      expect(row.seconds).toBeLessThan(300);
      expect(sandbox.simulator.counts.fullestWindow.requests).toBeLessThanOrEqual(ALLOWED);
      expect(clock.monotonicMs() - startedAtMs).toBeLessThan(10 * WINDOW_MS);
    },
  );
});

describe("without a limit", () => {
  test("N requests are in flight at once", async () => {
    await using sandbox = await Sandbox.start({ latencyMs: 500 }, { concurrency: 12 });

    await sandbox.run();

    expect(sandbox.simulator.counts.maxInFlight).toBe(12);
  });
});
