// What readers have seen over time, and what each publication changed.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { minute } from "../../output/minute.ts";
import { changeCounts, plural } from "../../output/progress-text.ts";
import { type Chart, type ChartSpec, INK, MARK, plotWidth } from "../charts/chart-config.ts";
import { indexAxis, stripView } from "../charts/strip.ts";
import type { LastPublications } from "../data/account-report.ts";
import type { Figure } from "../page/figure.ts";

const DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Undefined where nothing is published. */
export function publicationsFigure({ shown, total }: LastPublications): Figure | undefined {
  const head = shown.at(-1);
  if (head === undefined) return undefined;
  const isFirst = shown.length === 1;
  return {
    finding: `${plural(head.events, "event")}${isFirst ? " in the first publication" : `, ${difference(shown, head)}`}`,
    description: isFirst
      ? "The next publication begins a chart of events over publications, and of what each one added, changed and removed."
      : `The last publication: ${changeCounts(head)}. The line is the number of events that readers see, by publication${oldest(shown, total)}; the bars are what each publication added, changed and removed, on scales of their own.`,
    chart: isFirst ? undefined : publicationsChart(shown),
    table: {
      label: total === shown.length ? "All publications" : `The last ${countText(shown.length)} publications`,
      columns: [
        { title: "published, UTC" },
        { title: "by" },
        { title: "events", kind: "number" },
        { title: "added", kind: "number" },
        { title: "changed", kind: "number" },
        { title: "removed", kind: "number" },
        { title: "number", kind: "number" },
        { title: "snapshot" },
      ],
      rows: shown.toReversed().map(rowOf),
    },
  };
}

function rowOf({ publication, action, pinned, ...of }: Publication): readonly string[] {
  const counts = [of.events, of.added, of.changed, of.removed, Number(publication)].map(countText);
  const instant = minute(Date.parse(of.published_at)).replace(" UTC", "");
  return [instant, pinned ? `${action}, pinned` : action, ...counts, of.snapshot_id];
}

/** Against what readers saw 30 days before the head, or as early as is known. */
function difference(shown: readonly Publication[], head: Publication): string {
  const since = Date.parse(head.published_at) - DAYS * DAY_MS;
  const then = shown.findLast(({ published_at }) => Date.parse(published_at) <= since);
  if (then) return `${compared(head.events, then.events)} ${DAYS} days before`;
  const [first = head] = shown;
  const when = Number(first.publication) === 1 ? "at the first publication" : "at the oldest one shown";
  return `${compared(head.events, first.events)} ${when}`;
}

function oldest(shown: readonly Publication[], total: number): string {
  return total === shown.length ? "" : ` (the last ${countText(shown.length)} of ${countText(total)})`;
}

/** Events over publications, and below them what each publication added, changed and removed. */
const HEIGHT = 150;
/** More dots than this would hide the line. */
const MOST_DOTS = 60;

function publicationsChart(publications: readonly Publication[]): Chart {
  const instantsMs = publications.map(({ published_at }) => Date.parse(published_at));
  const values = publications.map(({ events, action }, index) => ({ place: index + 1, events, action }));
  const isDotted = ({ place, action }: (typeof values)[number]): boolean =>
    values.length <= MOST_DOTS || action !== "run" || place === values.length;
  return (width): ChartSpec => {
    const plot = plotWidth(width);
    const x = { field: "place", type: "quantitative", ...indexAxis(instantsMs, plot, false) };
    const y = {
      field: "events",
      type: "quantitative",
      scale: { zero: false, nice: 4 },
      axis: { tickCount: 4, tickMinStep: 1, format: ",d" },
    };
    const actions = ACTIONS.filter((one) => values.some(({ action }) => action === one));
    const shape = {
      field: "action",
      type: "nominal",
      scale: { domain: actions, range: actions.map((action) => SHAPES[action]) },
      legend: actions.every((action) => action === "run") ? null : {},
    };
    const events = {
      width: plot,
      height: HEIGHT,
      layer: [
        {
          data: { values },
          mark: { type: "line", interpolate: "step-after", stroke: MARK, strokeWidth: 2 },
          encoding: { x, y },
        },
        {
          data: { values: values.filter(isDotted) },
          mark: { type: "point", filled: true, fill: MARK, size: 46, opacity: 1 },
          encoding: { x, y, shape },
        },
        {
          data: { values: values.slice(-1) },
          mark: { type: "text", align: "right", dy: -12, fill: INK, fontSize: 13, fontWeight: 600 },
          encoding: { x, y, text: { field: "events", format: ",d" } },
        },
      ],
    };
    const counts = (kind: "added" | "changed" | "removed"): readonly (number | null)[] =>
      publications.map((publication) => (publication.base_snapshot_id === null ? null : publication[kind]));
    const strips = [
      stripView({ title: "added", counts: counts("added") }, instantsMs, width, false),
      stripView({ title: "changed", counts: counts("changed") }, instantsMs, width, false),
      stripView({ title: "removed", counts: counts("removed") }, instantsMs, width, true),
    ];
    return { vconcat: [events, ...strips] };
  };
}

/** In the order of the legend. */
const ACTIONS = ["run", "accept", "rollback"] as const;

const SHAPES: Readonly<Record<Publication["action"], string>> = {
  run: "circle",
  accept: "diamond",
  rollback: "triangle-down",
};

/** `3 % more than`, `12 fewer than`, `as many as`: what it is compared with follows. */
export function compared(now: number, before: number): string {
  const difference = Math.abs(now - before);
  if (difference === 0) return "as many as";
  const way = now > before ? "more than" : "fewer than";
  const percent = before === 0 ? 0 : (difference / before) * 100;
  if (percent < 1) return `${countText(difference)} ${way}`;
  return `${percent < 10 ? percent.toFixed(1).replace(/\.0$/, "") : countText(Math.round(percent))}\u00a0% ${way}`;
}
