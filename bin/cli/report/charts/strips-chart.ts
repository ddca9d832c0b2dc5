// Strips below each other, over the same places.

import type { Chart, ChartSpec } from "./chart-config.ts";
import { type Strip, stripView } from "./strip.ts";

export function stripsChart(strips: readonly Strip[], instantsMs: readonly number[]): Chart {
  return (width): ChartSpec => ({
    vconcat: strips.map((strip, index) => stripView(strip, instantsMs, width, index === strips.length - 1)),
  });
}
