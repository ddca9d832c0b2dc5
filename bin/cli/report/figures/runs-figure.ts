// How the last attempts of runs ended, and how long they took.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import { durationText } from "../../../../lambdas/job/run/record/duration-text.ts";
import type { Outcome, RunLogEntry } from "../../../../lambdas/job/run/record/run-log.ts";
import { reasonOf } from "../../output/describe-status.ts";
import { minute, plural } from "../../output/words.ts";
import type { AccountReport } from "../data/account-report.ts";
import type { Figure } from "../page/figure.ts";
import { type Html, html } from "../page/html.ts";
import {
  type Chart,
  FAILED,
  GRID,
  HELD,
  line,
  MARK,
  niceScale,
  panels,
  QUIET,
  type Shape,
  type Space,
  symbol,
} from "../page/plot.ts";

/** What follows the number of attempts. */
const ENDED: Readonly<Record<Outcome, string>> = {
  PUBLISHED: "published",
  HELD: "held",
  FAILED: "failed",
  SKIPPED: "skipped",
  SUPERSEDED: "superseded",
  HANDED_OVER: "handed over",
  DRY_RUN: "as a dry run",
};

/** Undefined where there is none. */
export function runsFigure({ runs }: Pick<AccountReport, "runs">): Figure | undefined {
  const last = runs.at(-1);
  if (last === undefined) return undefined;
  const unit = timeUnit(runs);
  const hasMessages = runs.some(({ error_message }) => error_message !== null);
  const took = durationText(median(runs.map(({ seconds }) => seconds)) * 1000);
  return {
    finding: findingOf(runs),
    description:
      runs.length === 1
        ? `It took ${took}.`
        : `How many ${unit.name} each attempt of a run took, in the order of their ends. Half of them took ${took} or less; the last one took ${durationText(last.seconds * 1000)}.`,
    chart: runs.length === 1 ? undefined : runsChart(runs),
    table: {
      label: runs.length === 1 ? "The attempt" : `The last ${countText(runs.length)} attempts`,
      columns: [
        { title: "started, UTC" },
        { title: "outcome" },
        { title: "reason" },
        { title: "took", kind: "number" },
        { title: "events", kind: "number" },
        { title: "by" },
        ...(hasMessages ? [{ title: "message", kind: "long" } as const] : []),
      ],
      rows: runs
        .toReversed()
        .map((run) => [...rowOf(run), ...(hasMessages ? [run.error_message ?? ""] : [])]),
    },
  };
}

function rowOf(run: RunLogEntry): readonly string[] {
  const { outcome, trigger, seconds, events, attempt } = run;
  return [
    minute(Date.parse(run.started_at)).replace(" UTC", ""),
    outcome,
    reasonOf(run),
    durationText(seconds * 1000),
    events === null ? "" : countText(events),
    attempt === 1 ? trigger : `${trigger}, attempt ${attempt}`,
  ];
}

/** `28 of the last 30 attempts published; 1 held, 1 failed`. */
function findingOf(runs: readonly RunLogEntry[]): string {
  const counts = OUTCOMES_SHOWN.map(
    (outcome) => [outcome, runs.filter((run) => run.outcome === outcome).length] as const,
  ).filter(([, count]) => count > 0);
  const [[first, most] = ["PUBLISHED", 0] as const, ...others] = counts;
  if (others.length === 0) {
    return runs.length === 1
      ? `The only attempt of a run: ${ENDED[first]}`
      : `The last ${plural(runs.length, "attempt")} of runs: all ${ENDED[first]}`;
  }
  const rest = others.map(([outcome, count]) => `${countText(count)} ${ENDED[outcome]}`).join(", ");
  return `The last ${plural(runs.length, "attempt")} of runs: ${countText(most)} ${ENDED[first]}, ${rest}`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

/** Each outcome has its own shape; colour only helps. */
const LOOKS: Readonly<Record<Outcome, { readonly shape: Shape; readonly colour: string }>> = {
  PUBLISHED: { shape: "circle", colour: MARK },
  HELD: { shape: "square", colour: HELD },
  FAILED: { shape: "cross", colour: FAILED },
  SKIPPED: { shape: "triangle-down", colour: QUIET },
  SUPERSEDED: { shape: "diamond", colour: QUIET },
  HANDED_OVER: { shape: "triangle-right", colour: MARK },
  DRY_RUN: { shape: "plus", colour: QUIET },
};

/** Outcomes in the order of a legend: the good one first. */
const OUTCOMES_SHOWN = [
  "PUBLISHED",
  "HELD",
  "FAILED",
  "SKIPPED",
  "SUPERSEDED",
  "HANDED_OVER",
  "DRY_RUN",
] as const satisfies readonly Outcome[];

interface TimeUnit {
  readonly name: "seconds" | "minutes" | "hours";
  readonly seconds: number;
}

/** In which durations are easy to read. */
function timeUnit(runs: readonly RunLogEntry[]): TimeUnit {
  const longest = Math.max(0, ...runs.map(({ seconds }) => seconds));
  if (longest >= 7_200) return { name: "hours", seconds: 3_600 };
  return longest >= 120 ? { name: "minutes", seconds: 60 } : { name: "seconds", seconds: 1 };
}

/** How long each attempt of a run took, and how it ended. */
function runsChart(runs: readonly RunLogEntry[]): Chart {
  const unit = timeUnit(runs);
  const took = runs.map(({ seconds }) => seconds / unit.seconds);
  const outcomes = OUTCOMES_SHOWN.filter((outcome) => runs.some((run) => run.outcome === outcome));
  const drawn = (outcome: Outcome, x = 0, y = 0): Html => {
    const { shape, colour } = LOOKS[outcome];
    return symbol(shape, html`fill="none" stroke="${colour}" stroke-width="1.75"`, x, y);
  };
  const panel = {
    height: 150,
    legend: outcomes.map((outcome) => ({ name: outcome, symbol: drawn(outcome) })),
    scale: niceScale([0, ...took], 4, 0.1),
    marks: ({ x, y }: Space): readonly Html[] => [
      ...took.map((value, index) => line(x(index + 1), y(0), x(index + 1), y(value), GRID)),
      ...runs.map(({ outcome }, index) => drawn(outcome, x(index + 1), y(took[index] ?? 0))),
    ],
  };
  return panels(
    [panel],
    runs.map(({ started_at }) => Date.parse(started_at)),
  );
}
