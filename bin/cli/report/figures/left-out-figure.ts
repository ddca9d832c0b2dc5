// How many listed events have no row, and why.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import { type Chart, type ChartSpec, FONT_SIZE, INK, MARK, QUIET } from "../charts/chart-config.ts";
import type { LeftOutCounts } from "../data/account-report.ts";
import type { Figure } from "../page/figure.ts";

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
const NAMES_WIDTH = 150;
const NUMBERS_WIDTH = 60;

function countsChart(counts: readonly NamedCount[]): Chart {
  const highest = Math.max(1, ...counts.flatMap(({ count, before = 0 }) => [count, before]));
  return (width): ChartSpec => {
    const y = {
      field: "name",
      type: "nominal",
      sort: null,
      axis: {
        minExtent: NAMES_WIDTH,
        maxExtent: NAMES_WIDTH,
        // The estimate of a text's width is far too wide.
        labelLimit: 0,
        labelColor: INK,
        labelFontSize: FONT_SIZE,
      },
    };
    const scale = { domain: [0, highest], nice: false };
    const x = { field: "count", type: "quantitative", scale, axis: null };
    return {
      width: width - NAMES_WIDTH - NUMBERS_WIDTH,
      height: { step: ROW_HEIGHT },
      data: { values: counts.map((one) => ({ ...one, before: one.before ?? null })) },
      layer: [
        { mark: { type: "bar", fill: MARK, height: 12 }, encoding: { x, y } },
        {
          transform: [{ filter: "datum.before > 0" }],
          mark: { type: "tick", stroke: QUIET, thickness: 2, size: 20 },
          encoding: { x: { ...x, field: "before" }, y },
        },
        {
          mark: { type: "text", align: "left", dx: 8, fill: INK, fontSize: FONT_SIZE },
          encoding: { x, y, text: { field: "count", format: ",d" } },
        },
      ],
    };
  };
}
