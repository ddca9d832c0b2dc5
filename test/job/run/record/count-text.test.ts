import { expect, test } from "vitest";
import { countText } from "../../../../lambdas/job/run/record/texts.ts";

test.each([
  [0, "0"],
  [7, "7"],
  [999, "999"],
  [1_000, "1,000"],
  [50_000, "50,000"],
  [123_456, "123,456"],
  [1_234_567, "1,234,567"],
  [Number.MAX_SAFE_INTEGER, "9,007,199,254,740,991"],
])("%d reads %s", (n, text) => {
  expect(countText(n)).toBe(text);
});
