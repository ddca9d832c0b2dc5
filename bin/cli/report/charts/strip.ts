// A low plot of bars with its own scale, to be put below others that have the same places.

import { halfBar, INK, MARK, plotWidth } from "./chart-config.ts";
import { indexAxis } from "./index-axis.ts";

export interface Strip {
  readonly title: string;
  /** By place; null where there is none. */
  readonly counts: readonly (number | null)[];
  /** What each might have been at most, drawn as a line across its bar. */
  readonly limits?: readonly (number | null)[];
  readonly height?: number;
}

const HEIGHT = 36;

/** One of the views of a `vconcat`. */
export function stripView(
  { title, counts, limits = [], height = HEIGHT }: Strip,
  instantsMs: readonly number[],
  width: number,
  isLast: boolean,
): object {
  const plot = plotWidth(width);
  const highest = Math.max(1, ...[...counts, ...limits].map((count) => count ?? 0));
  const x = { field: "from", type: "quantitative", ...indexAxis(instantsMs, plot, isLast) };
  const y = {
    type: "quantitative",
    scale: { domain: [0, highest], nice: false },
    axis: { values: [0, highest], format: highest < 100_000 ? ",d" : ".3~s", labelFlush: false },
  };
  const bars = { mark: { type: "rect", fill: MARK, stroke: MARK, strokeWidth: 0.75 } };
  const lines = { mark: { type: "rule", stroke: INK, strokeWidth: 1.5 } };
  return {
    title,
    width: plot,
    height,
    layer: [
      {
        data: { values: valuesOf(counts, halfBar(counts.length, plot)) },
        ...bars,
        encoding: { x, x2: { field: "to" }, y: { field: "count", ...y }, y2: { datum: 0 } },
      },
      {
        data: { values: valuesOf(limits, 0.5) },
        ...lines,
        encoding: { x, x2: { field: "to" }, y: { field: "count", ...y } },
      },
    ],
  };
}

/** @param half of the width, where 1 is from one place to the next */
function valuesOf(counts: readonly (number | null)[], half: number): readonly object[] {
  return counts.flatMap((count, index) =>
    count === null || count === 0 ? [] : [{ from: index + 1 - half, to: index + 1 + half, count }],
  );
}
