// What the charts of the report are drawn with.

import { describe, expect, test } from "vitest";
import { bars, chart, niceScale } from "../../../bin/cli/report/page/chart.ts";
import { figure } from "../../../bin/cli/report/page/figure.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.parse("2026-12-31T23:58:00.000Z");

const drawn = (counts: readonly (number | null)[], instantsMs: readonly number[], title = "counts"): string =>
  chart([{ title, height: 36, ...bars(counts) }], instantsMs).text;

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
    [...drawn([1, 2], instantsMs).matchAll(/>([^<]*)<\/text>/g)].map(([, text = ""]) => text).slice(2);

  test.each([
    { name: "its day", other: 50 * 24 * 60, expected: ["2026-12-31", "2027-02-19"] },
    {
      name: "its time, where all are of one day",
      other: 1,
      expected: ["2026-12-31 23:58", "2026-12-31 23:59"],
    },
    {
      name: "unknown, where a log holds no instant",
      other: Number.NaN,
      expected: ["2026-12-31 23:58", "unknown"],
    },
  ])("$name", ({ other, expected }) => {
    expect(labels([START_MS, START_MS + other * MINUTE_MS])).toEqual(expected);
  });
});

test.each([
  { count: 3, all: 3, onPhone: 3 },
  { count: 5, all: 5, onPhone: 3 },
  { count: 300, all: 5, onPhone: 3 },
])("of $count places $all are labelled, $onPhone of them on a phone", ({ count, all, onPhone }) => {
  const text = drawn(
    Array.from({ length: count }, () => 1),
    Array.from({ length: count }, () => START_MS),
  );

  const labels = [...text.matchAll(/<g( class="extra")?>/g)];
  expect(labels).toHaveLength(all);
  expect(labels.filter(([, extra]) => extra === undefined)).toHaveLength(onPhone);
  expect(text).toMatch(/<g><line [^>]*><text x="(?:83\.33|90|100)%"[^<]*<\/text><\/g><\/svg>/);
});

test("a drawing has its label and its title as texts, and few digits", () => {
  const drawing = chart(
    [{ title: 'a "b" <i> &', height: 36, ...bars([1, 3, 2]) }],
    [START_MS, START_MS, START_MS],
  );

  const { text } = figure({ finding: "<one>", description: "", chart: drawing });

  expect(text).toContain('<div class="chart" role="img" aria-label="&#60;one&#62;">');
  expect(text).toContain("<p>a &#34;b&#34; &#60;i&#62; &#38;</p>");
  expect(text).not.toMatch(/\d\.\d{3}/);
});

test("a place without a number has no bar, and one with nothing has none either", () => {
  expect(drawn([3, null, 0, 1], [0, 1, 2, 3]).match(/<rect /g)).toHaveLength(2);
});

test("a large number is short on its scale", () => {
  expect(drawn([1_234_567], [START_MS])).toContain(">1.23M</text>");
});
