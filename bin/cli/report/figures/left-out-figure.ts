// How many listed events have no row, and why.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import type { LeftOutCounts } from "../data/account-report.ts";
import type { Figure } from "../page/figure.ts";
import { html } from "../page/html.ts";
import { type Chart, INK, label, line, MARK, px, QUIET } from "../page/plot.ts";

type Counts = LeftOutCounts["now"];

const REASONS: readonly (readonly [name: string, countOf: (counts: Counts) => number])[] = [
  ["gone (404 or 410)", ({ gone }) => gone],
  ["forbidden (403)", ({ forbidden }) => forbidden],
  ["too large", ({ oversize }) => oversize],
  ["nested too deep", ({ too_deep }) => too_deep],
  ["without a valid uuid", ({ rejected, oversize, too_deep }) => rejected - oversize - too_deep],
];

export function leftOutFigure({ now, before }: LeftOutCounts): Figure {
  const counts = REASONS.map(
    ([name, countOf]): NamedCount => ({ name, count: countOf(now), before: before && countOf(before) }),
  ).filter((one) => one.count + (one.before ?? 0) > 0);
  const missing = now.listed - now.events;
  const listed = `${countText(now.listed)} listed events`;
  return {
    finding:
      missing === 0
        ? `None of ${listed} is left out`
        : `${countText(missing)} of ${listed} ${missing === 1 ? "is" : "are"} left out`,
    description:
      counts.length === 0
        ? "Every event of the list has its details in what readers see."
        : `Listed events without a row in what readers see, by reason.${counts.some((one) => (one.before ?? 0) > 0) ? " The lines are the snapshot before." : ""}`,
    chart: counts.length === 0 ? undefined : countsChart(counts),
    table:
      counts.length === 0
        ? undefined
        : {
            label: "Left out by reason",
            columns: [
              { title: "reason" },
              { title: "now", kind: "number" },
              { title: "before", kind: "number" },
            ],
            rows: counts.map(({ name, count, before: then }) => [
              name,
              countText(count),
              then === undefined ? "" : countText(then),
            ]),
          },
  };
}

/** A few named counts as bars, each with its number, and where wanted what it was before. */
interface NamedCount {
  readonly name: string;
  readonly count: number;
  /** Drawn as a line across the bar. */
  readonly before: number | undefined;
}

const ROW_HEIGHT = 30;
const BAR_HEIGHT = 12;
const NAMES_WIDTH = 150;
const NUMBERS_WIDTH = 60;

function countsChart(counts: readonly NamedCount[]): Chart {
  const highest = Math.max(1, ...counts.flatMap(({ count, before = 0 }) => [count, before]));
  return (width) => {
    const lengthOf = (count: number): number => (count / highest) * (width - NAMES_WIDTH - NUMBERS_WIDTH);
    const body = counts.flatMap(({ name, count, before = 0 }, index) => {
      const y = (index + 0.5) * ROW_HEIGHT;
      const [length, then] = [lengthOf(count), NAMES_WIDTH + lengthOf(before)];
      return [
        label({ x: NAMES_WIDTH - 6, y: y + 4, fill: INK, anchor: "end" }, name),
        html`<rect x="${NAMES_WIDTH}" y="${px(y - BAR_HEIGHT / 2)}" width="${px(length)}" height="${BAR_HEIGHT}" fill="${MARK}"/>`,
        ...(before > 0 ? [line(then, y - 10, then, y + 10, QUIET, 2)] : []),
        label({ x: NAMES_WIDTH + length + 8, y: y + 4, fill: INK }, countText(count)),
      ];
    });
    return { height: counts.length * ROW_HEIGHT, body };
  };
}
