// What readers have seen over time, and what each publication changed.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { changeCounts, minute, plural } from "../../output/words.ts";
import type { LastPublications } from "../data/account-report.ts";
import type { Figure } from "../page/figure.ts";
import { html } from "../page/html.ts";
import {
  type Chart,
  INK,
  label,
  MARK,
  niceScale,
  type Panel,
  panels,
  px,
  type Scale,
  type Shape,
  strip,
  symbol,
} from "../page/plot.ts";

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
      : `The last publication: ${changeCounts(head)}. The line is the number of events that readers see, by publication${oldest(shown, total)}${beginning(eventsScale(shown))}; the bars are what each publication added, changed and removed, on scales of their own.`,
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

/** A line that does not begin at zero shows small differences as large ones. */
function beginning({ lowest }: Scale): string {
  return lowest === 0 ? "" : `, on a scale that begins at ${countText(lowest)} and not at zero`;
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

/** More dots than this would hide the line. */
const MOST_DOTS = 60;

function eventsScale(publications: readonly Publication[]): Scale {
  return niceScale(
    publications.map(({ events }) => events),
    4,
    1,
  );
}

/** Events over publications, and below them what each publication added, changed and removed. */
function publicationsChart(publications: readonly Publication[]): Chart {
  const look = html`fill="${MARK}"`;
  const used = ACTIONS.filter((one) => publications.some(({ action }) => action === one));
  const counts = (kind: "added" | "changed" | "removed"): Panel =>
    strip(
      kind,
      publications.map((publication) => (publication.base_snapshot_id === null ? null : publication[kind])),
    );
  const events: Panel = {
    height: 150,
    legend: used.every((action) => action === "run")
      ? []
      : used.map((action) => ({ name: action, symbol: symbol(SHAPES[action], look) })),
    scale: eventsScale(publications),
    marks: ({ x, y }) => {
      const steps = publications.map(({ events: count }, index) => {
        const place = index + 1;
        return index === 0 ? `M${px(x(place))},${px(y(count))}` : `H${px(x(place))}V${px(y(count))}`;
      });
      const dots = publications.flatMap(({ events: count, action }, index) => {
        const isDrawn =
          publications.length <= MOST_DOTS || action !== "run" || index === publications.length - 1;
        return isDrawn ? [symbol(SHAPES[action], look, x(index + 1), y(count))] : [];
      });
      const last = publications.at(-1)?.events ?? 0;
      const at = { x: x(publications.length), y: y(last) - 9, fill: INK, anchor: "end" } as const;
      return [
        html`<path d="${steps.join("")}" fill="none" stroke="${MARK}" stroke-width="2"/>`,
        ...dots,
        label({ ...at, look: html`font-size="13" font-weight="600"` }, countText(last)),
      ];
    },
  };
  return panels(
    [events, counts("added"), counts("changed"), counts("removed")],
    publications.map(({ published_at }) => Date.parse(published_at)),
  );
}

/** In the order of the legend. */
const ACTIONS = ["run", "accept", "rollback"] as const;

const SHAPES: Readonly<Record<Publication["action"], Shape>> = {
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
