// What all charts look like. Colours are those of the page, so one drawing serves light, dark and paper.

import type { Config } from "vega-lite";

/** In the grammar of Vega-Lite, without its configuration. */
export type ChartSpec = object;

/** Draws for so many pixels. */
export type Chart = (width: number) => ChartSpec;

/** Custom properties of the page's style sheet. */
export const INK = "var(--ink)";
export const QUIET = "var(--quiet)";
const GRID = "var(--grid)";
export const MARK = "var(--mark)";
export const HELD = "var(--held)";
export const FAILED = "var(--failed)";

/** Fills of the page's own, told apart without colour. */
export const HATCHED = "url(#hatched)";
export const DOTTED = "url(#dotted)";

export const FONT_SIZE = 12;
/** Left of every plot, so that plots below each other begin together. */
const LABELS_WIDTH = 46;
const RIGHT = 10;

/** What is left for the plot itself. */
export function plotWidth(width: number): number {
  return width - LABELS_WIDTH - RIGHT;
}

/** Of the way from one place to the next; a bar is never wider than so many pixels. */
const [BAR, WIDEST_BAR] = [0.72, 28];

/** Half of the width of a bar, where 1 is from one place to the next. */
export function halfBar(places: number, plot: number): number {
  return Math.min(BAR, (WIDEST_BAR * places) / plot) / 2;
}

export const CHART_CONFIG: Config = {
  background: "transparent",
  padding: { left: 0, top: 4, right: RIGHT, bottom: 2 },
  font: "system-ui, sans-serif",
  aria: false,
  view: { stroke: null },
  title: {
    anchor: "start",
    frame: "group",
    color: QUIET,
    fontSize: FONT_SIZE,
    fontWeight: "normal",
    offset: 6,
  },
  axis: {
    labelColor: QUIET,
    labelFontSize: FONT_SIZE,
    gridColor: GRID,
    domainColor: GRID,
    tickColor: GRID,
    title: null,
  },
  axisY: { domain: false, ticks: false, labelPadding: 6, minExtent: LABELS_WIDTH, maxExtent: LABELS_WIDTH },
  axisX: { grid: false, tickSize: 4, labelPadding: 4 },
  legend: {
    title: null,
    orient: "top",
    direction: "horizontal",
    offset: 10,
    columnPadding: 14,
    rowPadding: 4,
    labelColor: INK,
    labelFontSize: FONT_SIZE,
    labelLimit: 200,
    symbolSize: 90,
  },
  concat: { spacing: 8 },
};
