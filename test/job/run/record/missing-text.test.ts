import { expect, test } from "vitest";
import { missingReasons, missingText } from "../../../../lambdas/job/run/record/texts.ts";

test.each([
  [{ gone: 0, forbidden: 0, rejected: 0 }, ""],
  [{ gone: null, forbidden: null, rejected: null }, ""],
  [{ gone: 1_200, forbidden: 2, rejected: 0 }, "1,200 gone (404 or 410), 2 forbidden (403)"],
  [{ gone: 0, forbidden: 0, rejected: 3 }, "3 rejected (no valid uuid, too large, or nested too deep)"],
  [
    { gone: 0, forbidden: 1, rejected: 6, oversize: 1, too_deep: 2 },
    "1 forbidden (403), 1 too large, 2 nested too deep, 3 without a valid uuid",
  ],
])("the reasons of %j are in words: %s", (counts, text) => {
  expect(missingReasons(counts)).toBe(text);
});

test.each([
  [
    { listed: 5_000, gone: 38, forbidden: 2, rejected: 0 },
    "40 of 5,000 listed events have no details: 38 gone (404 or 410), 2 forbidden (403)",
  ],
  [
    { listed: 15, gone: 0, forbidden: 1, rejected: 0 },
    "1 of 15 listed events has no details: 1 forbidden (403)",
  ],
  [{ listed: 15, gone: 0, forbidden: 0, rejected: 0 }, ""],
])("what is missing of %j is a sentence: %s", (counts, text) => {
  expect(missingText(counts)).toBe(text);
});
