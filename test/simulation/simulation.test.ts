// The first seeds of the simulation keep every promise, and each tells one story only.

import { describe, expect, test } from "vitest";
import { drawPlan } from "./plan/draw-plan.ts";
import { failureText } from "./report.ts";
import { shrink } from "./shrink.ts";
import { simulate } from "./simulate.ts";

const SEEDS = 300;
/** They take seconds, but machines are shared, and a test that ends early would live on beside the next one. */
const PATIENCE_MS = 600_000;

describe("the simulation", () => {
  test(
    `keeps every promise in ${SEEDS} histories`,
    async () => {
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        const history = await simulate(drawPlan(seed));

        if (history.violation !== undefined) expect.fail(failureText(history, await shrink(history)));
      }
    },
    PATIENCE_MS,
  );

  test("tells the same story again for the same seed", async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const first = await simulate(drawPlan(seed));
      const second = await simulate(drawPlan(seed));

      expect(second.digest, `seed ${seed}`).toBe(first.digest);
    }
  });

  test("tells another story for another seed", async () => {
    const digests = new Set<string>();
    for (let seed = 1; seed <= 5; seed += 1) digests.add((await simulate(drawPlan(seed))).digest);

    expect(digests.size).toBe(5);
  });
});
