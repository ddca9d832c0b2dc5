import { expect, test } from "vitest";
import { allowance } from "../../../lambdas/job/settings/values.ts";

test.each([
  [200, 180],
  [199, 179],
  [2, 1],
  [1, 1],
  ["unlimited", Number.POSITIVE_INFINITY],
] as const)("of a limit of %s, %s are used", (limit, used) => {
  expect(allowance(limit)).toBe(used);
});

test("another share of a limit leaves at least one too", () => {
  expect([allowance(1_000, 60_000, 0.5), allowance(1, 60_000, 0.1)]).toEqual([500, 1]);
});
