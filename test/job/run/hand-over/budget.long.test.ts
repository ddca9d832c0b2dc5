// The rule for time with a budget: waiting for it in the state machine costs nothing, waiting for it here does.

import { expect, test } from "vitest";
import { HandOverWorld, RUN } from "./hand-over-world.ts";

const MINUTE_MS = 60_000;

test("with a window of ten minutes an invocation sends a burst, and the state machine waits for the next one", async () => {
  const world = new HandOverWorld({
    events: 4_000,
    requestsPerMinute: 200,
    windowMs: 10 * MINUTE_MS,
    requestMs: 5,
  });

  const first = await world.first();
  const turns = await world.play();

  expect(first.row).toMatchObject({ outcome: "HANDED_OVER", reason: "BUDGET" });
  expect(first.row.seconds).toBeLessThan(60);
  expect(first.row.requests).toBe(1_800); // all that the window allows
  expect(turns.at(-1)?.row).toMatchObject({ outcome: "PUBLISHED", events: 4_000, run_id: RUN });
  expect(world.small.details).toBe(4_000);
  expect(world.fullest(10 * MINUTE_MS)).toBeLessThanOrEqual(2_000);
  expect(turns.every(({ row }) => row.seconds < 60)).toBe(true);
  expect(world.waitedSeconds).toBeGreaterThan(2 * 580);
  expect(world.waitedSeconds).toBeLessThan(2 * 620);
  // One login for each invocation that sends requests.
  expect(world.logins).toBe(3);
});

test("with a window of a minute the invocation waits itself, until its time is over", async () => {
  const world = new HandOverWorld({ events: 4_000, requestsPerMinute: 200, requestMs: 5 });

  const first = await world.first();
  const turns = await world.play();

  expect(first.row).toMatchObject({ outcome: "HANDED_OVER", reason: "TIME_LIMIT" });
  expect(first.row.seconds).toBeGreaterThan(700);
  expect(turns.map(({ row }) => row.outcome)).toEqual(["PUBLISHED"]);
  expect(world.waitedSeconds).toBe(0);
  expect(world.fullest(MINUTE_MS)).toBeLessThanOrEqual(200);
  expect(world.small.details).toBe(4_000);
});

test("on a command line a run waits for a budget of any window", async () => {
  const world = new HandOverWorld({
    events: 2_500,
    requestsPerMinute: 200,
    windowMs: 10 * MINUTE_MS,
    requestMs: 5,
  });
  const { openService } = world.ports();

  const { row } = await world.small.run({ runId: RUN }, { openService });

  expect(row).toMatchObject({ outcome: "PUBLISHED", events: 2_500 });
});
