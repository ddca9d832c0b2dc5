// What people read of counts, times and missing events.

import { describe, expect, test } from "vitest";
import {
  countText,
  durationText,
  missingReasons,
  missingText,
  remainingText,
} from "../../../../lambdas/job/run/record/texts.ts";

describe("a time as people read it", () => {
  test.each([
    { ms: 0, was: "0 s", left: "0 s" },
    { ms: 1_400, was: "1 s", left: "2 s" },
    { ms: 89_000, was: "89 s", left: "89 s" },
    { ms: 127_000, was: "2 min", left: "3 min" },
    { ms: 5_400_000, was: "1 h 30 min", left: "1 h 30 min" },
    { ms: 7_501_000, was: "2 h 5 min", left: "2 h 6 min" },
    { ms: 50 * 3_600_000, was: "2 days", left: "3 days" },
    { ms: 60_010, was: "60 s", left: "60 s" },
  ])("$ms ms: it was $was, and $left are left", ({ ms, was, left }) => {
    expect(durationText(ms)).toBe(was);
    expect(remainingText(ms)).toBe(left);
  });
});

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

test.each([
  [{ gone: 0, forbidden: 0, rejected: 0 }, ""],
  [{ gone: null, forbidden: null, rejected: null }, ""],
  [{ gone: 1_200, forbidden: 2, rejected: 0 }, "1,200 gone (404 or 410), 2 forbidden (403)"],
  [
    { gone: 0, forbidden: 0, rejected: 3 },
    "3 rejected (no valid uuid, too large, nested too deep, or unreadable)",
  ],
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
