// Lives histories, and fails with the shortest form of the first one that breaks a promise.

import { expect } from "vitest";
import { failureText, shrink } from "./failure.ts";
import { drawPlan } from "./plan/draw-plan.ts";
import { simulate } from "./simulate.ts";

/** The histories take seconds, but machines are shared, and a test that ends early would live on beside the next one. */
export const PATIENCE_MS = 600_000;

/** @param last the last seed, included */
export async function expectPromisesKept(first: number, last: number): Promise<void> {
  for (let seed = first; seed <= last; seed += 1) {
    const history = await simulate(drawPlan(seed));
    if (history.violation !== undefined) expect.fail(failureText(history, await shrink(history)));
  }
}
