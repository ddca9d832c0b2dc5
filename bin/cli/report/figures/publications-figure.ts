// What readers have seen over time, and what each publication changed.

import { countText } from "../../../../lambdas/job/run/record/texts.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { type Html, html } from "../../output/html.ts";
import { changeCounts, plural } from "../../output/words.ts";
import { bars, chart, niceScale, type Shape, symbol } from "../page/chart.ts";
import { type Figure, instantCell, table } from "../page/figure.ts";

/** @param isAll whether the log has no earlier ones */
export function publicationsFigure(publications: readonly Publication[], isAll: boolean): Figure | undefined {
  const head = publications.at(-1);
  if (head === undefined) return undefined;
  if (publications.length === 1)
    return { finding: `${plural(head.events, "event")} in the first publication` };
  const count = countText(publications.length);
  return {
    finding: `${plural(head.events, "event")}, ${difference(publications, head)}`,
    description: `The last publication: ${changeCounts(head)}.`,
    chart: publicationsChart(publications),
    table: table(isAll ? "All publications" : `The last ${count} publications`, publications.toReversed(), [
      ["published, UTC", ({ published_at }) => instantCell(published_at)],
      ["by", ({ action, pinned }) => (pinned ? `${action}, pinned` : action)],
      ["events", ({ events }) => events, "number"],
      ["added", ({ added }) => added, "number"],
      ["changed", ({ changed }) => changed, "number"],
      ["removed", ({ removed }) => removed, "number"],
      ["number", ({ publication }) => Number(publication), "number"],
      ["snapshot", ({ snapshot_id }) => snapshot_id],
    ]),
  };
}

const DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Against what readers saw 30 days before the head, or as early as is known. */
function difference(publications: readonly Publication[], head: Publication): string {
  const since = Date.parse(head.published_at) - DAYS * DAY_MS;
  const then = publications.findLast(({ published_at }) => Date.parse(published_at) <= since);
  if (then) return `${compared(head.events, then.events)} ${DAYS} days before`;
  const [first = head] = publications;
  const when = Number(first.publication) === 1 ? "at the first publication" : "at the oldest one shown";
  return `${compared(head.events, first.events)} ${when}`;
}

/** More dots than this would hide the line. */
const MOST_DOTS = 60;

const SHAPES: Readonly<Record<Publication["action"], Shape>> = {
  run: "circle",
  accept: "diamond",
  rollback: "triangle-down",
};

function publicationsChart(publications: readonly Publication[]): Html {
  const drawn = (action: Publication["action"]): Html => symbol(SHAPES[action], html`fill="var(--mark)"`);
  const used = (["run", "accept", "rollback"] as const).filter((one) =>
    publications.some(({ action }) => action === one),
  );
  const last = publications.length - 1;
  const height = 180;
  const seen = publications.map(({ events }) => events);
  const scale = niceScale(seen, 4, 1);
  const counts = (["added", "changed", "removed"] as const).map((kind) => ({
    title: kind,
    height: 36,
    ...bars(publications.map((one) => (one.base_snapshot_id === null ? null : one[kind]))),
  }));
  return chart(
    [
      {
        // A line that does not begin at zero shows small differences as large ones.
        title: `events${scale.lowest === 0 ? "" : `, on a scale from ${countText(scale.lowest)}`}`,
        height,
        legend: used.map((action) => ({ name: action, symbol: drawn(action) })),
        scale,
        marks: ({ y, at }) => {
          const steps = seen.map((count, place) =>
            place === 0 ? `M0.5,${y(count)}` : `H${place + 0.5}V${y(count)}`,
          );
          return [
            html`<svg viewBox="0 0 ${publications.length} ${height}" height="${height}" preserveAspectRatio="none"><path d="${steps.join("")}" fill="none" stroke="var(--mark)" stroke-width="2" vector-effect="non-scaling-stroke"/></svg>`,
            ...publications.flatMap(({ events: count, action }, place) => {
              const isDrawn = publications.length <= MOST_DOTS || action !== "run" || place === last;
              return isDrawn ? [at(place, count, drawn(action))] : [];
            }),
          ];
        },
      },
      ...counts,
    ],
    publications.map(({ published_at }) => Date.parse(published_at)),
  );
}

/** `3 % more than`, `12 fewer than`, `as many as`: what it is compared with follows. */
export function compared(now: number, before: number): string {
  const difference = Math.abs(now - before);
  if (difference === 0) return "as many as";
  const way = now > before ? "more than" : "fewer than";
  const percent = before === 0 ? 0 : (difference / before) * 100;
  if (percent < 1) return `${countText(difference)} ${way}`;
  return `${percent < 10 ? percent.toFixed(1).replace(/\.0$/, "") : countText(Math.round(percent))}\u00a0% ${way}`;
}
