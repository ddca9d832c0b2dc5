// Every invocation is killed once, at a random effect, and repeated by what had started it.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Executions } from "../../../../lambdas/job/run/hand-over/executions.ts";
import { Crashed, CrashPoint } from "../crash.ts";
import type { PortChanges } from "../small-world.ts";
import { FIRST, HandOverWorld } from "./hand-over-world.ts";

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
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 32 }), fc.boolean()), { minLength: 20, maxLength: 20 }),
      fc.constantFrom(2, 1_000),
      async (points, maxTurns) => {
        const options = { rangeEvents: 4, requestMs: 1_000, limitSeconds: 14 };
        const world = new HandOverWorld({ events: EVENTS, maxTurns, ...options });
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
        // Lambda repeats the start. What it died of may be that its lease must expire first.
        world.small.clock.advance(61_000);
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
        expect(world.wasted).toBe(0);
        expect(world.lease()).toMatchObject({ run_id: null });
      },
    ),
    { numRuns: 150, seed: 20_261_121 },
  );
  const parts = ["lease.json", "rows-", "record-", "start ", "run-log/", "publications/"];
  expect(parts.filter((part) => !killed.some((effect) => effect.includes(part)))).toEqual([]);
});
