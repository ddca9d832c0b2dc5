// Charts as plain SVG: panels below each other over the same places, such as runs or publications. Lengths across are shares
// of the width, and colours are those of the page, so one drawing serves screens of any width, paper, light and dark.

import { countText } from "../../../lambdas/job/run/record/texts.ts";
import { type Html, html } from "../output/html.ts";

interface Panel {
  readonly title: string;
  /** Not shown for one alone. Symbols are drawn around the point 0, 0. */
  readonly legend?: readonly { readonly name: string; readonly symbol: Html }[];
  /** In pixels. */
  readonly height: number;
  readonly scale: Scale;
  readonly marks: (space: Space) => readonly Html[];
}

/** The scale of the vertical axis. */
interface Scale {
  readonly lowest: number;
  readonly highest: number;
  readonly ticks: readonly number[];
}

/** What a panel draws with: places count from 0. */
interface Space {
  /** Where a place lies, in per cent of the width. */
  readonly x: (place: number) => string;
  /** In pixels. */
  readonly y: (value: number) => number;
  /** A drawing around the point 0, 0, moved to where it belongs. */
  readonly at: (place: number, value: number, drawing: Html) => Html;
}

/** Evenly spaced, since clocks may be wrong; labelled below the last panel with the instants. */
export function chart(panels: readonly Panel[], instantsMs: readonly number[]): Html {
  const x = (place: number): string => share((place + 0.5) / instantsMs.length);
  const drawn = panels.map(({ title, legend = [], height, scale, marks }, index) => {
    const { lowest, highest, ticks } = scale;
    const y = (value: number): number => digits(height * (1 - (value - lowest) / (highest - lowest)));
    const at: Space["at"] = (place, value, drawing) =>
      html`<svg x="${x(place)}" y="${y(value)}">${drawing}</svg>`;
    const isLast = index === panels.length - 1;
    return html`<p>${title}</p>\n${legendOf(legend)}<svg height="${height}">${ticks.map((value) => tick(value, y(value)))}${marks({ x, y, at })}${isLast ? placeLabels(instantsMs, x, height) : ""}</svg>\n`;
  });
  return html`${drawn}`;
}

/** The width of a bar: a share of the way from one place to the next, and of the whole width at most. */
const [BAR, WIDEST_BAR] = [0.72, 0.04];

/** Bars from zero, on a scale of their own if no other is given; none where there is no number, or nothing. */
export function bars(
  values: readonly (number | null)[],
  scale?: Scale,
  look: (place: number) => Html = () => html`fill="var(--mark)" stroke="var(--mark)" stroke-width="0.75"`,
): Pick<Panel, "scale" | "marks"> {
  const highest = Math.max(1, ...values.map((value) => value ?? 0));
  const width = Math.min(BAR / values.length, WIDEST_BAR);
  return {
    scale: scale ?? { lowest: 0, highest, ticks: [0, highest] },
    marks: ({ y }) =>
      values.flatMap((value, place) => {
        if (!value) return [];
        const left = share((place + 0.5) / values.length - width / 2);
        return html`<rect x="${left}" y="${y(value)}" width="${share(width)}" height="${digits(y(0) - y(value))}" ${look(place)}/>`;
      }),
  };
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
  bar: "M-4.5,0H4.5",
} as const;
export type Shape = keyof typeof SHAPES;

export function symbol(shape: Shape, look: Html): Html {
  return html`<path d="${SHAPES[shape]}" ${look}/>`;
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

/** No more than an eye can see. */
function digits(value: number): number {
  return Number(value.toFixed(2));
}

function share(part: number): string {
  return `${digits(part * 100)}%`;
}

function legendOf(items: NonNullable<Panel["legend"]>): Html {
  const shown = items.map(
    ({ name, symbol: drawing }) =>
      html`<span><svg viewBox="-6 -6 12 12" width="12" height="12">${drawing}</svg> ${name}</span>\n`,
  );
  return items.length < 2 ? html`` : html`<div class="legend">\n${shown}</div>\n`;
}

function tick(value: number, y: number): Html {
  return html`<line x2="100%" y1="${y}" y2="${y}" stroke="var(--grid)"/><text x="-6" y="${y + 4}" fill="var(--quiet)" text-anchor="end">${tickText(value)}</text>`;
}

function tickText(value: number): string {
  if (value >= 100_000)
    return Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 }).format(value);
  return Number.isInteger(value) ? countText(value) : String(value);
}

/** The label of a place so near to the right edge ends there. On the left there is room. As a share of the width. */
const EDGE = 0.1;
/** How much of an instant is shown: its day, its minute, its second. */
const DAY = "yyyy-mm-dd".length;
const ENDS = [DAY, "yyyy-mm-dd hh:mm".length, "yyyy-mm-dd hh:mm:ss".length];

/**
 * Of the first and the last place, and of one between where there is room, on a phone too: days, or times where a day
 * would be there twice; then the day is below the first of its times.
 */
function placeLabels(
  instantsMs: readonly number[],
  x: (place: number) => string,
  top: number,
): readonly Html[] {
  const last = instantsMs.length - 1;
  const between = last % 2 === 0 || last > 4 ? [Math.round(last / 2)] : [];
  const places = [...new Set([0, ...between, last])];
  const texts = places.map((place) => instantText(instantsMs[place] ?? Number.NaN));
  const end = ENDS.find((each) => new Set(texts.map((text) => text.slice(0, each))).size === texts.length);
  const dayOf = (text = ""): string => text.slice(0, DAY);
  return places.map((place, index) => {
    const text = texts[index] ?? "";
    const [at, anchor] =
      (place + 0.5) / instantsMs.length > 1 - EDGE ? ["100%", "end"] : [x(place), "middle"];
    const line = (shown: string, below: number): Html =>
      html`<text x="${at}" y="${top + below}" fill="var(--quiet)" text-anchor="${anchor}">${shown}</text>`;
    const time = end === DAY ? "" : text.slice(DAY + 1, end);
    const isNewDay = time !== "" && dayOf(text) !== dayOf(texts[index - 1]);
    return html`<g><line x1="${x(place)}" x2="${x(place)}" y1="${top}" y2="${top + 4}" stroke="var(--quiet)"/>${line(time || dayOf(text), 17)}${isNewDay ? line(dayOf(text), 32) : ""}</g>`;
  });
}

/** `2026-11-21 06:00:00`. Logs are files, so an instant in them may be none. */
function instantText(ms: number): string {
  return Number.isNaN(ms) ? "unknown" : new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}
