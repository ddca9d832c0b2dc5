// How many listed events have no row, and why.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import { countsChart, type NamedCount } from "../charts/counts-chart.ts";
import type { LeftOutCounts } from "../data/left-out-counts.ts";
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
