// Runs of many invocations: each is killed once, at a random effect, and repeated by what had started it; and a budget, for
// which waiting in the state machine costs nothing, and waiting here does.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Executions } from "../../../../lambdas/job/run/hand-over/executions.ts";
import { Crashed, CrashPoint } from "../crash.ts";
import type { PortChanges } from "../small-world.ts";
import { FIRST, HandOverWorld, RUN, SMALL } from "./hand-over-world.ts";

const EVENTS = 24;

/** The ports of a process that dies at its effect `at`, the starts of executions included. */
function dying(world: HandOverWorld, point: CrashPoint): PortChanges {
  const { executions } = world;
  const guarded: Executions = {
    arnOf: (name) => executions.arnOf(name),
    describe: (arn) => point.alive(() => executions.describe(arn)),
    start: (name, input) => point.effect(`start ${name}`, () => executions.start(name, input)),
  };
  return { ...point.wrap(world.small), executions: guarded };
}

test("a run whose invocations are all killed once is complete, and nothing is fetched that was staged", async () => {
  const killed: string[] = [];
  const undisturbed = new HandOverWorld({ events: EVENTS });
  await undisturbed.first();
  const parts = await undisturbed.parts(RUN);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 32 }), fc.boolean()), { minLength: 20, maxLength: 20 }),
      fc.constantFrom(2, 1_000),
      async (points, maxTurns) => {
        const world = new HandOverWorld({ ...SMALL, events: EVENTS, maxTurns });
        const crashes: CrashPoint[] = [];
        const next = (): PortChanges => {
          const [at, isAfter] = points[crashes.length] ?? [1, false];
          const point = new CrashPoint(at, isAfter ? "after" : "before");
          crashes.push(point);
          return dying(world, point);
        };

        await world.first(next()).catch((error: unknown) => {
          if (!(error instanceof Crashed)) throw error;
        });
        // Lambda repeats the start. Its lease has ended, whatever clock it goes by.
        world.small.clock.advance(11 * 60_000 + 1);
        await world.first();
        let isRepeated = false;
        await world.play(() => {
          isRepeated = !isRepeated;
          return isRepeated ? next() : {};
        });

        killed.push(...crashes.filter(({ crashed }) => crashed).map(({ effects }) => effects.at(-1) ?? ""));
        expect(world.executions.names[0]).toBe(FIRST);
        expect(world.small.store.keys("publications/")).toHaveLength(1);
        expect(await world.small.seen()).toEqual(world.small.truth());
        expect(await world.parts(RUN)).toBe(parts);
        expect(world.wasted).toBe(0);
        expect(world.lease()).toMatchObject({ run_id: null });
      },
    ),
    { numRuns: 150, seed: 20_261_121 },
  );
  const kinds = ["lease.json", "rows-", "record-", "start ", "run-log/", "publications/"];
  expect(kinds.filter((kind) => !killed.some((effect) => effect.includes(kind)))).toEqual([]);
});

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
