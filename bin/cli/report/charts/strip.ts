// A low plot of bars with its own scale, to be put below others that have the same places.

import { type Chart, type ChartSpec, halfBar, INK, MARK, plotWidth } from "./chart-config.ts";

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

/** Strips below each other, over the same places. */
export function stripsChart(strips: readonly Strip[], instantsMs: readonly number[]): Chart {
  return (width): ChartSpec => ({
    vconcat: strips.map((strip, index) => stripView(strip, instantsMs, width, index === strips.length - 1)),
  });
}

/** The horizontal axis of what follows each other: evenly spaced, since clocks may be wrong, and labelled with instants. */
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** A label and the space beside it. */
const LABEL_WIDTH = 84;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The encoding of a place, which counts from 1. `isLabelled` false leaves the labels to the plot below. */
export function indexAxis(
  instantsMs: readonly number[],
  width: number,
  isLabelled = true,
): { readonly scale: object; readonly axis: object | null } {
  const scale = { domain: [0.5, instantsMs.length + 0.5], nice: false, zero: false };
  if (!isLabelled) return { scale, axis: null };
  const places = labelled(instantsMs.length, Math.floor(width / LABEL_WIDTH));
  const texts = labelTexts(places.map((place) => instantsMs[place - 1] ?? 0));
  const byPlace = Object.fromEntries(places.map((place, index) => [place, texts[index]]));
  const axis = { values: places, labelExpr: `(${JSON.stringify(byPlace)})[datum.value]`, labelFlush: 24 };
  return { scale, axis };
}

/** Every so many, the last among them. */
function labelled(count: number, most: number): readonly number[] {
  const step = Math.max(1, Math.ceil(count / Math.max(1, most)));
  const places = Array.from({ length: Math.ceil(count / step) }, (_, index) => count - index * step);
  return places.reverse();
}

/** Days; with times where all are of one day or two, with the year where it is another than before. */
function labelTexts(instantsMs: readonly number[]): readonly string[] {
  if (instantsMs.some(Number.isNaN)) return instantsMs.map((ms) => (Number.isNaN(ms) ? "unknown" : day(ms)));
  const [first = 0, last = 0] = [Math.min(...instantsMs), Math.max(...instantsMs)];
  if (last - first < DAY_MS) return instantsMs.map((ms) => `${day(ms)} ${time(ms)}`);
  const years = instantsMs.map((ms) => new Date(ms).getUTCFullYear());
  return instantsMs.map((ms, index) => {
    const isNewYear = index > 0 && years[index] !== years[index - 1];
    return isNewYear ? `${day(ms)} ${years[index]}` : day(ms);
  });
}

function day(ms: number): string {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

function time(ms: number): string {
  return new Date(ms).toISOString().slice(11, 16);
}
