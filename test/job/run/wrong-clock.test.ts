// A clock that is ahead, this computer's or the one that named what readers see: it stops nothing without a word.

import { describe, expect, test } from "vitest";
import { check } from "../../../lambdas/job/commands/check.ts";
import { runEvent } from "../../../lambdas/job/run/record/run-event.ts";
import type { RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import { formatRunId, layout } from "../../../lambdas/job/storage/layout.ts";
import { realClock, settableClock } from "../../simulator/clocks.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "./sandbox.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;

/** This computer's clock can be set; the service's, `service`, is another one. */
async function start(service = realClock()) {
  const clock = settableClock(realClock());
  const sandbox = await Sandbox.start({ events: makeEvents(5), clock: service }, {}, clock);
  return { clock, sandbox };
}

type World = Awaited<ReturnType<typeof start>>;

/** Readers see a snapshot that lies so far in the future. */
async function publishInFuture({ clock, sandbox }: World, byMs: number): Promise<string | null> {
  clock.set(byMs);
  const { row } = await sandbox.run({ trustClock: true, fresh: true });
  clock.set(-byMs);
  return row.snapshot_id;
}

/** The failed check, in words. */
async function clockOf({ sandbox }: World): Promise<string | null | undefined> {
  const checks = await check(sandbox.ports(), sandbox.settings);
  return checks.find(({ name }) => name === "clock")?.remedy;
}

const publications = ({ sandbox }: World): number => sandbox.store.keys("publications/").length;
const endsWithDecision = expect.stringMatching(
  /If this computer's clock is right, .*\(--trust-clock;.*\)\.$/,
);
const outcomeOf = ({ row }: RunResult): readonly unknown[] => [row.outcome, row.error_code];

describe("over a head in the future", () => {
  test.each([1, 3])(
    "of %i publications a run ends with the command, and after it all are content [D16]",
    async (count) => {
      const world = await start();
      await using sandbox = world.sandbox;
      for (let n = 1; n < count; n += 1) await sandbox.run();
      await publishInFuture(world, 10 * DAY_MS);

      const failed = await sandbox.run();
      const checked = await clockOf(world);
      const trusted = await sandbox.run({ trustClock: true });
      const plain = await sandbox.run();

      expect(outcomeOf(failed)).toEqual(["FAILED", "CLOCK_WRONG"]);
      expect(failed.error?.message).toEqual(endsWithDecision);
      expect(checked).toMatch(/publish what the service has now: `run with trustClock`\.$/);
      expect(runEvent(ACCOUNT, failed, undefined)?.detail).toMatchObject({ finished: true });
      expect([trusted, plain].map(({ row }) => row.outcome)).toEqual(["PUBLISHED", "PUBLISHED"]);
      expect(publications(world)).toBe(count + 2);
      expect(await clockOf(world)).toBeUndefined();
    },
  );

  test.each([
    { aheadMs: 9 * MINUTE_MS, ends: ["SUPERSEDED", null] },
    { aheadMs: 11 * MINUTE_MS, ends: ["FAILED", "CLOCK_WRONG"] },
  ])("by $aheadMs ms a run ends as $ends", async ({ aheadMs, ends }) => {
    const world = await start();
    await using sandbox = world.sandbox;
    await publishInFuture(world, aheadMs);

    expect(outcomeOf(await sandbox.run())).toEqual(ends);
  });

  test("that the service's clock has passed no command is named: this clock is behind", async () => {
    const world = await start();
    await using sandbox = world.sandbox;
    await sandbox.run();
    world.clock.set(-10 * DAY_MS);

    const { row, error } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "CLOCK_WRONG" });
    expect(error?.message).toContain("this computer's clock is behind");
    expect(error?.message).not.toContain("--trust-clock");
    expect(await clockOf(world)).not.toContain("--trust-clock");
  });

  test("an unfinished run that lies in the future is not continued", async () => {
    const world = await start();
    await using sandbox = world.sandbox;
    world.clock.set(DAY_MS);
    await sandbox.interrupt(2);
    world.clock.set(-DAY_MS);

    const { row } = await sandbox.run();

    expect(row.outcome).toBe("PUBLISHED");
    expect(row.run_id < formatRunId(world.clock.now() + MINUTE_MS)).toBe(true);
  });

  test("a trusted run continues what is unfinished, and not older than what was published before", async () => {
    const world = await start();
    await using sandbox = world.sandbox;
    const unfinished = await sandbox.interrupt(2);
    await publishInFuture(world, 10 * DAY_MS);

    const { row } = await sandbox.run({ trustClock: true });

    expect(row).toMatchObject({ outcome: "PUBLISHED", run_id: unfinished.row.run_id });
  });
});

describe("a clock that is ahead of the service's", () => {
  test("by more than 36 hours fails the run before its plan, with both instants, and check too", async () => {
    const world = await start();
    await using sandbox = world.sandbox;
    world.clock.set(36 * HOUR_MS + MINUTE_MS);

    const { row, error } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "CLOCK_WRONG" });
    const days = [world.clock.now(), world.clock.now() - 36 * HOUR_MS - MINUTE_MS].map((ms) =>
      new Date(ms).toISOString().slice(0, 10),
    );
    for (const day of days) expect(error?.message).toContain(day);
    expect(error?.message).toEqual(endsWithDecision);
    expect(sandbox.store.keys(layout(ACCOUNT).plan(row.run_id))).toEqual([]);
    expect(await clockOf(world)).toMatch(/: `run with trustClock`\.$/);
    expect(publications(world)).toBe(0);
  });

  test("publishes if it is trusted", async () => {
    const world = await start();
    await using sandbox = world.sandbox;
    world.clock.set(10 * DAY_MS);

    expect((await sandbox.run({ trustClock: true })).row.outcome).toBe("PUBLISHED");
    expect((await sandbox.run()).row.error_code).toBe("CLOCK_WRONG");
  });

  test("publishes a run that was begun so, whatever start continues it", async () => {
    const world = await start();
    await using sandbox = world.sandbox;
    world.clock.set(10 * DAY_MS);
    const unfinished = await sandbox.interrupt(2, { trustClock: true });

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", run_id: unfinished.row.run_id });
  });

  test("fails a run that has its plan already before it publishes", async () => {
    const world = await start();
    await using sandbox = world.sandbox;
    const unfinished = await sandbox.interrupt(2);
    world.clock.set(37 * HOUR_MS);

    const { row } = await sandbox.run({ runId: unfinished.row.run_id });

    expect(row).toMatchObject({
      outcome: "FAILED",
      error_code: "CLOCK_WRONG",
      run_id: unfinished.row.run_id,
    });
    expect(publications(world)).toBe(0);
  });

  test.each([
    { aheadMs: 35 * HOUR_MS, warns: true },
    { aheadMs: 11 * MINUTE_MS, warns: true },
    { aheadMs: 9 * MINUTE_MS, warns: false },
    { aheadMs: -9 * MINUTE_MS, warns: false },
    { aheadMs: -11 * MINUTE_MS, warns: true },
    { aheadMs: -10 * DAY_MS, warns: true },
  ])("by $aheadMs ms stops no run, and warns: $warns", async ({ aheadMs, warns }) => {
    const world = await start();
    await using sandbox = world.sandbox;
    world.clock.set(aheadMs);

    const { row } = await sandbox.run();

    expect(row.outcome).toBe("PUBLISHED");
    expect(sandbox.log.text.split("This computer's clock shows")).toHaveLength(warns ? 2 : 1);
    expect(await clockOf(world)).toBeUndefined();
  });
});
