// A few named counts as bars, each with its number, and where wanted what it was before.

import { type Chart, type ChartSpec, FONT_SIZE, INK, MARK, QUIET } from "./chart-config.ts";

export interface NamedCount {
  readonly name: string;
  readonly count: number;
  /** Drawn as a line across the bar. */
  readonly before: number | undefined;
}

const ROW_HEIGHT = 30;
const NAMES_WIDTH = 150;
const NUMBERS_WIDTH = 60;

export function countsChart(counts: readonly NamedCount[]): Chart {
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
