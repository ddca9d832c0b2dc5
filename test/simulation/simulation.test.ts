// The first seeds of the simulation keep every promise, and each tells one story only.

import { describe, expect, test } from "vitest";
import { expectPromisesKept, PATIENCE_MS } from "./expect-promises-kept.ts";
import { drawPlan } from "./plan/draw-plan.ts";
import { simulate } from "./simulate.ts";

describe("the simulation", () => {
  test("keeps every promise in 50 histories", () => expectPromisesKept(1, 50), PATIENCE_MS);

  test("tells the same story again for the same seed", async () => {
    for (let seed = 1; seed <= 10; seed += 1) {
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
