// What the charts of the report are drawn with.

import { describe, expect, test } from "vitest";
import { niceScale, panels, strip, svg } from "../../../bin/cli/report/page/plot.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.parse("2026-12-31T23:58:00.000Z");

const drawn = (counts: readonly (number | null)[], instantsMs: readonly number[], label = "x"): string =>
  svg(panels([strip("counts", counts)], instantsMs), 720, "wide", label).text;

describe("a scale has round values", () => {
  test.each([
    { values: [0, 7], smallest: 1, expected: [0, 2, 4, 6, 8] },
    { values: [0, 0], smallest: 1, expected: [0, 1] },
    { values: [475, 475], smallest: 1, expected: [475, 476] },
    { values: [1_052, 1_080], smallest: 1, expected: [1_050, 1_060, 1_070, 1_080] },
    { values: [0, 0.31], smallest: 0.1, expected: [0, 0.1, 0.2, 0.3, 0.4] },
    { values: [0, 95], smallest: 0.1, expected: [0, 50, 100] },
    { values: [0, 1_234_567], smallest: 1, expected: [0, 500_000, 1_000_000, 1_500_000] },
  ])("$values: $expected", ({ values, smallest, expected }) => {
    expect(niceScale(values, 4, smallest).ticks).toEqual(expected);
  });
});

describe("a place is labelled with", () => {
  const labels = (instantsMs: readonly number[]): readonly string[] =>
    [...drawn([1, 2], instantsMs).matchAll(/>([^<]*)<\/text>/g)].map(([, text = ""]) => text).slice(3);

  test.each([
    { name: "its day", other: 50 * 24 * 60, expected: ["31 Dec", "19 Feb 2027"] },
    { name: "its time, where all are of one day", other: 1, expected: ["31 Dec 23:58", "31 Dec 23:59"] },
    {
      name: "seconds, where minutes are equal",
      other: 0.5,
      expected: ["31 Dec 23:58:00", "31 Dec 23:58:30"],
    },
    { name: "unknown, where a log holds no instant", other: Number.NaN, expected: ["31 Dec", "unknown"] },
  ])("$name", ({ other, expected }) => {
    expect(labels([START_MS, START_MS + other * MINUTE_MS])).toEqual(expected);
  });
});

test("a drawing has its label and its title as texts, and few digits", () => {
  const chart = panels([strip('a "b" <i> &', [1, 3, 2])], [START_MS, START_MS, START_MS]);

  const text = svg(chart, 328, "narrow", "<one>").text;

  expect(text).toMatch(
    /^<svg class="narrow" viewBox="0 0 328 [\d.]+" .* role="img" aria-label="&#60;one&#62;"/,
  );
  expect(text).toContain("a &#34;b&#34; &#60;i&#62; &#38;</text>");
  expect(text).not.toMatch(/\d\.\d{3}/);
});

test("a place without a number has no bar, and one with nothing has none either", () => {
  expect(drawn([3, null, 0, 1], [0, 1, 2, 3]).match(/<rect /g)).toHaveLength(2);
});

test("a large number is short on its scale", () => {
  expect(drawn([1_234_567], [START_MS])).toContain(">1.23M</text>");
});
