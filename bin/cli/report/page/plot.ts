// Charts as plain SVG: panels below each other over the same places, such as runs or publications. Colours are those of
// the page, so one drawing serves light, dark and paper.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import { type Html, html } from "./html.ts";

/** Draws for so many pixels. */
export type Chart = (width: number) => Drawing;

interface Drawing {
  readonly height: number;
  readonly body: readonly Html[];
}

/** Custom properties of the page's style sheet. */
export const INK = "var(--ink)";
export const QUIET = "var(--quiet)";
export const GRID = "var(--grid)";
export const MARK = "var(--mark)";
export const HELD = "var(--held)";
export const FAILED = "var(--failed)";

/** Fills of the page's own, told apart without colour. */
export const HATCHED = "url(#hatched)";
export const DOTTED = "url(#dotted)";

const FONT_SIZE = 12;
/** Left of every panel, so that all begin together. */
const LABELS_WIDTH = 46;
const RIGHT = 10;
const TITLE_HEIGHT = 22;
const LEGEND_ROW_HEIGHT = 20;
const BETWEEN = 10;
/** Above the highest mark. */
const TOP = 8;
const AXIS_HEIGHT = 22;
/** Of the way from one place to the next; a bar is never wider than so many pixels. */
const [BAR, WIDEST_BAR] = [0.72, 28];

/** Of the vertical axis. */
export interface Scale {
  readonly lowest: number;
  readonly highest: number;
  readonly ticks: readonly number[];
}

/** What a panel draws with: places count from 1. */
export interface Space {
  readonly x: (place: number) => number;
  readonly y: (value: number) => number;
  /** Of a place. */
  readonly width: number;
  readonly barWidth: number;
}

export interface Panel {
  readonly title?: string;
  readonly legend?: readonly LegendItem[];
  readonly height: number;
  readonly scale: Scale;
  readonly marks: (space: Space) => readonly Html[];
}

interface LegendItem {
  readonly name: string;
  /** Drawn around the point 0, 0. */
  readonly symbol: Html;
}

/** A drawing as an element of the page. `label` says to people who do not see it what it shows. */
export function svg(chart: Chart, width: number, className: string, label: string): Html {
  const { height, body } = chart(width);
  return html`<svg class="${className}" viewBox="0 0 ${width} ${px(height)}" width="${width}" height="${px(height)}" role="img" aria-label="${label}" font-size="${FONT_SIZE}">${body}</svg>
`;
}

/** Evenly spaced, since clocks may be wrong; labelled below the last panel with the instants. */
export function panels(all: readonly Panel[], instantsMs: readonly number[]): Chart {
  return (width) => {
    const plot = width - LABELS_WIDTH - RIGHT;
    const step = plot / instantsMs.length;
    const x = (place: number): number => LABELS_WIDTH + (place - 0.5) * step;
    const barWidth = Math.min(BAR * step, WIDEST_BAR);
    const body: Html[] = [];
    let top = 0;
    for (const { title, legend: items = [], height, scale, marks } of all) {
      if (title !== undefined) {
        body.push(label({ x: LABELS_WIDTH, y: top + FONT_SIZE + 2, fill: QUIET }, title));
        top += TITLE_HEIGHT - TOP;
      }
      const drawn = legend(items, top, plot);
      body.push(...drawn.body);
      top += drawn.height + TOP;
      const { lowest, highest } = scale;
      const bottom = top + height;
      const y = (value: number): number => bottom - ((value - lowest) / (highest - lowest)) * height;
      body.push(...scale.ticks.flatMap((value) => tick(value, y(value), width)));
      body.push(...marks({ x, y, width: step, barWidth }));
      top = bottom + BETWEEN;
    }
    body.push(...placeLabels(instantsMs, x, top - BETWEEN, plot));
    return { height: top - BETWEEN + AXIS_HEIGHT, body };
  };
}

/** A low panel of bars with its own scale; null where there is none. A limit is drawn as a line across its bar. */
export function strip(
  title: string,
  counts: readonly (number | null)[],
  {
    height = 36,
    limits = [],
  }: { readonly height?: number; readonly limits?: readonly (number | null)[] } = {},
): Panel {
  const highest = Math.max(1, ...[...counts, ...limits].map((count) => count ?? 0));
  return {
    title,
    height,
    scale: { lowest: 0, highest, ticks: [0, highest] },
    marks: (space) => [
      ...counts.flatMap((count, index) =>
        count
          ? [bar(space, index + 1, count, html`fill="${MARK}" stroke="${MARK}" stroke-width="0.75"`)]
          : [],
      ),
      ...limits.flatMap((limit, index) => {
        const [left, at] = [space.x(index + 1) - space.width / 2, space.y(limit ?? 0)];
        return limit ? [line(left, at, left + space.width, at, INK, 1.5)] : [];
      }),
    ],
  };
}

export function bar({ x, y, barWidth }: Space, place: number, value: number, look: Html): Html {
  const top = y(value);
  return html`<rect x="${px(x(place) - barWidth / 2)}" y="${px(top)}" width="${px(barWidth)}" height="${px(y(0) - top)}" ${look}/>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, stroke: string, width = 1): Html {
  return html`<path d="M${px(x1)},${px(y1)}L${px(x2)},${px(y2)}" stroke="${stroke}" stroke-width="${width}"/>`;
}

export function label(
  {
    x,
    y,
    fill,
    anchor,
    look,
  }: {
    readonly x: number;
    readonly y: number;
    readonly fill: string;
    readonly anchor?: "middle" | "end";
    readonly look?: Html;
  },
  content: string,
): Html {
  const anchored = anchor === undefined ? "" : html` text-anchor="${anchor}"`;
  return html`<text x="${px(x)}" y="${px(y)}" fill="${fill}"${anchored}${look === undefined ? "" : html` ${look}`}>${content}</text>`;
}

/** Paths around the point 0, 0. */
const SHAPES = {
  circle: "M-4,0A4,4 0 1 1 4,0A4,4 0 1 1 -4,0Z",
  square: "M-3.5,-3.5H3.5V3.5H-3.5Z",
  diamond: "M0,-5L4.5,0L0,5L-4.5,0Z",
  "triangle-down": "M-4.5,-3.5H4.5L0,4.5Z",
  "triangle-right": "M-3.5,-4.5V4.5L4.5,0Z",
  cross: "M-4,-4L4,4M-4,4L4,-4",
  plus: "M-4.5,0H4.5M0,-4.5V4.5",
} as const;
export type Shape = keyof typeof SHAPES;

export function symbol(shape: Shape, look: Html, x = 0, y = 0): Html {
  const moved = x === 0 && y === 0 ? "" : html` transform="translate(${px(x)},${px(y)})"`;
  return html`<path d="${SHAPES[shape]}" ${look}${moved}/>`;
}

/** About so many ticks, at round values that are at least `smallest` apart. */
export function niceScale(values: readonly number[], count: number, smallest: number): Scale {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const rough = Math.max((most - least) / count, smallest);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const lowest = Math.floor(least / step) * step;
  const steps = Math.max(1, Math.ceil((most - lowest) / step));
  const ticks = Array.from({ length: steps + 1 }, (_, index) =>
    Number((lowest + index * step).toPrecision(12)),
  );
  return { lowest, highest: lowest + steps * step, ticks };
}

/** With no more digits than an eye can see. */
export function px(value: number): string {
  return String(Number(value.toFixed(2)));
}

function tick(value: number, y: number, width: number): readonly Html[] {
  return [
    line(LABELS_WIDTH, y, width - RIGHT, y, GRID),
    label({ x: LABELS_WIDTH - 6, y: y + 4, fill: QUIET, anchor: "end" }, tickText(value)),
  ];
}

function tickText(value: number): string {
  if (value >= 100_000)
    return Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 }).format(value);
  return Number.isInteger(value) ? countText(value) : String(value);
}

function legend(items: readonly LegendItem[], top: number, plot: number): Drawing {
  const columns = Math.max(1, Math.floor(plot / LEGEND_WIDTH));
  const body = items.flatMap(({ name, symbol: drawn }, index) => {
    const x = LABELS_WIDTH + (index % columns) * LEGEND_WIDTH;
    const y = top + (Math.floor(index / columns) + 0.5) * LEGEND_ROW_HEIGHT;
    return [
      html`<g transform="translate(${px(x + 6)},${px(y)})">${drawn}</g>`,
      label({ x: x + 18, y: y + 4, fill: INK }, name),
    ];
  });
  return { height: Math.ceil(items.length / columns) * LEGEND_ROW_HEIGHT, body };
}

/** Of an item. */
const LEGEND_WIDTH = 140;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** A label and the space beside it. */
const PLACE_LABEL_WIDTH = 92;
const DAY_MS = 24 * 60 * 60 * 1000;

function placeLabels(
  instantsMs: readonly number[],
  x: (place: number) => number,
  y: number,
  plot: number,
): readonly Html[] {
  const places = labelled(instantsMs.length, Math.floor(plot / PLACE_LABEL_WIDTH));
  const texts = labelTexts(places.map((place) => instantsMs[place - 1] ?? 0));
  return places.flatMap((place, index) => {
    const isFirst = x(place) < LABELS_WIDTH + PLACE_LABEL_WIDTH / 2;
    const isLast = x(place) > LABELS_WIDTH + plot - PLACE_LABEL_WIDTH / 2;
    const at = {
      x: isFirst ? LABELS_WIDTH : isLast ? LABELS_WIDTH + plot : x(place),
      y: y + 17,
      fill: QUIET,
    };
    const anchored = isFirst ? at : { ...at, anchor: isLast ? ("end" as const) : ("middle" as const) };
    return [line(x(place), y, x(place), y + 4, GRID), label(anchored, texts[index] ?? "")];
  });
}

/** Every so many, the last among them. */
function labelled(count: number, most: number): readonly number[] {
  const step = Math.max(1, Math.ceil(count / Math.max(1, most)));
  const places = Array.from({ length: Math.ceil(count / step) }, (_, index) => count - index * step);
  return places.reverse();
}

/** Days; with times where all are of one day or two, with seconds where minutes are equal, and with the year where it is another than before. */
function labelTexts(instantsMs: readonly number[]): readonly string[] {
  if (instantsMs.some(Number.isNaN)) return instantsMs.map((ms) => (Number.isNaN(ms) ? "unknown" : day(ms)));
  const [first = 0, last = 0] = [Math.min(...instantsMs), Math.max(...instantsMs)];
  if (last - first < DAY_MS) {
    const texts = instantsMs.map((ms) => `${day(ms)} ${timeOfDay(ms, "HH:mm".length)}`);
    const areEqual = new Set(texts).size < texts.length;
    return areEqual ? instantsMs.map((ms) => `${day(ms)} ${timeOfDay(ms, "HH:mm:ss".length)}`) : texts;
  }
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

function timeOfDay(ms: number, length: number): string {
  return new Date(ms).toISOString().slice(11, 11 + length);
}
