// What the run log says: how the last attempts of runs ended and how long they took, and how many requests they sent,
// against what the limit allows in that time.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import { durationText } from "../../../../lambdas/job/run/record/duration-text.ts";
import type { Outcome, RunLogEntry } from "../../../../lambdas/job/run/record/run-log.ts";
import { allowance, type Limit } from "../../../../lambdas/job/settings/limit.ts";
import { reasonOf } from "../../output/describe-status.ts";
import { type Html, html } from "../../output/html.ts";
import { plural, throttledText } from "../../output/words.ts";
import { bars, chart, niceScale, type Shape, symbol } from "../page/chart.ts";
import { type Figure, instantCell, sizeText, table } from "../page/figure.ts";

export interface RequestLimit {
  readonly requestsPerMinute: Limit;
  readonly limitWindowSeconds: number;
}

/**
 * None where no attempt has ended.
 * @param runs oldest first
 */
export function runFigures(runs: readonly RunLogEntry[], limit: RequestLimit): readonly Figure[] {
  const last = runs.at(-1);
  const requests = requestsFigure(runs, limit);
  return [...(last ? [attemptsFigure(runs, last)] : []), ...(requests ? [requests] : [])];
}

interface OutcomeLook {
  /** What follows the number of attempts. */
  readonly ended: string;
  /** Each outcome has its own; colour only helps. */
  readonly shape: Shape;
  /** Of the page. */
  readonly colour: "mark" | "held" | "failed" | "quiet";
}

/** In the order of a legend: the good one first. */
const OUTCOMES: Readonly<Record<Outcome, OutcomeLook>> = {
  PUBLISHED: { ended: "published", shape: "circle", colour: "mark" },
  HELD: { ended: "held", shape: "square", colour: "held" },
  FAILED: { ended: "failed", shape: "cross", colour: "failed" },
  SKIPPED: { ended: "skipped", shape: "triangle-down", colour: "quiet" },
  SUPERSEDED: { ended: "superseded", shape: "diamond", colour: "quiet" },
  HANDED_OVER: { ended: "handed over", shape: "triangle-right", colour: "mark" },
  DRY_RUN: { ended: "as a dry run", shape: "plus", colour: "quiet" },
};

function attemptsFigure(runs: readonly RunLogEntry[], last: RunLogEntry): Figure {
  const isOnly = runs.length === 1;
  const unit = timeUnit(runs);
  const hasMessages = runs.some(({ error_message }) => error_message !== null);
  const took = durationText(median(runs.map(({ seconds }) => seconds)) * 1000);
  return {
    finding: findingOf(runs),
    description: isOnly
      ? `It took ${took}.`
      : `How many ${unit.name} each attempt of a run took, in the order of their ends. Half of them took ${took} or less; the last one took ${durationText(last.seconds * 1000)}.`,
    chart: isOnly ? undefined : runsChart(runs, unit.seconds),
    table: table(isOnly ? "The attempt" : `The last ${countText(runs.length)} attempts`, runs.toReversed(), [
      ["started, UTC", ({ started_at }) => instantCell(started_at)],
      ["outcome", ({ outcome }) => outcome],
      ["reason", reasonOf],
      ["took", ({ seconds }) => durationText(seconds * 1000), "number"],
      ["events", ({ events }) => events, "number"],
      ["by", ({ trigger, attempt }) => (attempt === 1 ? trigger : `${trigger}, attempt ${attempt}`)],
      ...(hasMessages
        ? [["message", ({ error_message }: RunLogEntry) => error_message, "long"] as const]
        : []),
    ]),
  };
}

/** `The last 30 attempts of runs: 28 published, 1 held, 1 failed`. */
function findingOf(runs: readonly RunLogEntry[]): string {
  const counts = Object.entries(OUTCOMES)
    .map(([name, { ended }]) => ({ ended, count: runs.filter(({ outcome }) => outcome === name).length }))
    .filter(({ count }) => count > 0);
  const of = runs.length === 1 ? "The only attempt of a run" : `The last ${runs.length} attempts of runs`;
  if (counts.length > 1)
    return `${of}: ${counts.map(({ count, ended }) => `${countText(count)} ${ended}`).join(", ")}`;
  return `${of}: ${runs.length === 1 ? "" : "all "}${counts[0]?.ended}`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

function timeUnit(runs: readonly RunLogEntry[]): { readonly name: string; readonly seconds: number } {
  const longest = Math.max(...runs.map(({ seconds }) => seconds));
  if (longest >= 7_200) return { name: "hours", seconds: 3_600 };
  return longest >= 120 ? { name: "minutes", seconds: 60 } : { name: "seconds", seconds: 1 };
}

function runsChart(runs: readonly RunLogEntry[], unitSeconds: number): Html {
  const took = runs.map(({ seconds }) => seconds / unitSeconds);
  const drawn = ({ shape, colour }: OutcomeLook): Html =>
    symbol(shape, html`fill="none" stroke="var(--${colour})" stroke-width="1.75"`);
  return chart(
    [
      {
        height: 150,
        legend: Object.entries(OUTCOMES)
          .filter(([name]) => runs.some(({ outcome }) => outcome === name))
          .map(([name, look]) => ({ name, symbol: drawn(look) })),
        scale: niceScale([0, ...took], 4, 0.1),
        marks: ({ x, y, at }) => [
          ...took.map(
            (value, place) =>
              html`<line x1="${x(place)}" x2="${x(place)}" y1="${y(0)}" y2="${y(value)}" stroke="var(--grid)"/>`,
          ),
          ...runs.map(({ outcome }, place) => at(place, took[place] ?? 0, drawn(OUTCOMES[outcome]))),
        ],
      },
    ],
    runs.map(({ started_at }) => Date.parse(started_at)),
  );
}

/** Undefined where no attempt sent a request. */
function requestsFigure(runs: readonly RunLogEntry[], limit: RequestLimit): Figure | undefined {
  const sent = runs.filter(({ requests }) => (requests ?? 0) > 0);
  const last = sent.at(-1);
  if (last === undefined) return undefined;
  const isOnly = sent.length === 1;
  const panels = (
    [
      { title: "requests", height: 100, column: "requests" },
      { title: "429: too many requests", height: 36, column: "throttled" },
      { title: "requests sent again", height: 36, column: "retries" },
    ] as const
  ).filter(({ column }) => sent.some((run) => (run[column] ?? 0) > 0));
  return {
    finding: `${plural(last.requests ?? 0, "request")} in the last run${last === runs.at(-1) ? "" : " that sent any"}${shareText(last, limit)}`,
    description: `${troubleText(last, limit)} The bars are the requests of each attempt. ${limitText(limit)}`,
    chart: isOnly
      ? undefined
      : chart(
          panels.map(({ column, ...panel }) => ({ ...panel, ...bars(sent.map((run) => run[column])) })),
          sent.map(({ started_at }) => Date.parse(started_at)),
        ),
    table: table(isOnly ? "Its requests" : "The requests of each attempt", sent.toReversed(), [
      ["started, UTC", ({ started_at }) => instantCell(started_at)],
      ["requests", ({ requests }) => requests, "number"],
      ["allowed", (run) => allowedFor(run, limit), "number"],
      ["429", ({ throttled }) => throttled, "number"],
      ["sent again", ({ retries }) => retries, "number"],
      ["logins", ({ logins }) => logins, "number"],
      ["received", ({ bytes }) => (bytes === null ? null : sizeText(bytes)), "number"],
    ]),
  };
}

/** What a sliding window lets through at most in the time of the attempt; null without a limit. */
export function allowedFor({ seconds }: Pick<RunLogEntry, "seconds">, limit: RequestLimit): number | null {
  if (limit.requestsPerMinute === "unlimited") return null;
  const inWindow = allowance(limit.requestsPerMinute, limit.limitWindowSeconds * 1_000);
  return inWindow * (Math.floor(seconds / limit.limitWindowSeconds) + 1);
}

function shareText(run: RunLogEntry, limit: RequestLimit): string {
  const allowed = allowedFor(run, limit);
  if (allowed === null) return "";
  const percent = Math.round(((run.requests ?? 0) / allowed) * 100);
  return percent > 100
    ? ", more than the budget of today allows in that time"
    : `, ${percent}\u00a0% of the budget of that time`;
}

function limitText({ requestsPerMinute, limitWindowSeconds }: RequestLimit): string {
  if (requestsPerMinute === "unlimited") return "No limit is set.";
  const window = limitWindowSeconds === 60 ? "" : `, on average over ${countText(limitWindowSeconds)} s`;
  return `The budget of today is 90 % of ${countText(requestsPerMinute)} a minute${window}.`;
}

function troubleText(run: RunLogEntry, { requestsPerMinute }: RequestLimit): string {
  const { throttled, retries } = run;
  const again = retries ?? 0;
  if ((throttled ?? 0) + again === 0)
    return "The service answered none of them with 429, and none was sent again.";
  const sentAgain = `${countText(again)} ${again === 1 ? "was" : "were"} sent again`;
  if (!throttled) return `The service answered none of them with 429; ${sentAgain}.`;
  return `${throttledText(run, requestsPerMinute)} (${sentAgain}).`;
}
