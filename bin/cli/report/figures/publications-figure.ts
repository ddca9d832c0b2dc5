// What readers have seen over time, and what each publication changed.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { minute } from "../../output/minute.ts";
import { changeCounts, plural } from "../../output/progress-text.ts";
import { publicationsChart } from "../charts/publications-chart.ts";
import type { LastPublications } from "../data/last-publications.ts";
import type { Figure } from "../page/figure.ts";
import { compared } from "./compared.ts";

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
