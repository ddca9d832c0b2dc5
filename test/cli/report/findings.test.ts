// The sentences and numbers of the report.

import { describe, expect, test } from "vitest";
import { compared } from "../../../bin/cli/report/figures/publications-figure.ts";
import { allowedFor } from "../../../bin/cli/report/figures/run-figures.ts";
import { sizeText } from "../../../bin/cli/report/page/figure.ts";

describe("a number beside an earlier one", () => {
  test.each([
    { now: 12, before: 12, expected: "as many as" },
    { now: 0, before: 0, expected: "as many as" },
    { now: 1_204, before: 1_200, expected: "4 more than" },
    { now: 1_236, before: 1_200, expected: "3\u00a0% more than" },
    { now: 1_185, before: 1_200, expected: "1.3\u00a0% fewer than" },
    { now: 24, before: 12, expected: "100\u00a0% more than" },
    { now: 0, before: 12, expected: "100\u00a0% fewer than" },
    { now: 5, before: 0, expected: "5 more than" },
  ])("$now beside $before is $expected", ({ now, before, expected }) => {
    expect(compared(now, before)).toBe(expected);
  });
});

describe("what the budget allows in the time of an attempt", () => {
  test.each([
    { seconds: 5, requestsPerMinute: 200, limitWindowSeconds: 60, expected: 180 },
    { seconds: 60, requestsPerMinute: 200, limitWindowSeconds: 60, expected: 360 },
    { seconds: 61, requestsPerMinute: 200, limitWindowSeconds: 600, expected: 1_800 },
    { seconds: 61, requestsPerMinute: "unlimited", limitWindowSeconds: 60, expected: null },
  ] as const)(
    "$requestsPerMinute a minute over $limitWindowSeconds s, for $seconds s, is $expected",
    (given) => {
      expect(allowedFor(given, given)).toBe(given.expected);
    },
  );
});

test.each([
  { bytes: 0, expected: "0 bytes" },
  { bytes: 1_023, expected: "1023 bytes" },
  { bytes: 1_536, expected: "1.5 KiB" },
  { bytes: 150 * 1_024, expected: "150 KiB" },
  { bytes: 3 * 1_024 ** 3, expected: "3.0 GiB" },
])("$bytes bytes are shown as $expected", ({ bytes, expected }) => {
  expect(sizeText(bytes)).toBe(expected);
});
