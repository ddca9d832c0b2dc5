// What the run log says: how the last attempts of runs ended, how long they took, and how many requests they sent, against
// what the limit allows in that time.

import type { Outcome, RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { countText, durationText } from "../../../lambdas/job/run/record/texts.ts";
import { isFuture } from "../../../lambdas/job/runtime/clock.ts";
import { allowance, type Limit } from "../../../lambdas/job/settings/values.ts";
import { ANY_SHELL } from "../../../lambdas/words/style.ts";
import { outcomeWord, reasonOf } from "../output/describe-status.ts";
import { type Html, html } from "../output/html.ts";
import { plural, throttledText } from "../output/words.ts";
import { bars, chart, niceScale, type Shape, symbol } from "./chart.ts";
import { type Figure, instantCell, sizeText, table } from "./figure.ts";

export interface RequestLimit {
  readonly requestsPerMinute: Limit;
  readonly limitWindowSeconds: number;
}

interface OutcomeLook {
  /** The words after the number of attempts. */
  readonly ended: string;
  /** Each outcome has its own; colour only helps. */
  readonly shape: Shape;
  /** A colour of the page. */
  readonly colour: "mark" | "held" | "failed" | "quiet";
}

/** The outcomes in the order of a legend: the good one first. */
const LOOKS: Readonly<Record<Outcome | "interrupted", OutcomeLook>> = {
  PUBLISHED: { ended: "published", shape: "circle", colour: "mark" },
  HELD: { ended: "held", shape: "square", colour: "held" },
  FAILED: { ended: "failed", shape: "cross", colour: "failed" },
  interrupted: { ended: "interrupted", shape: "bar", colour: "quiet" },
  SKIPPED: { ended: "skipped", shape: "triangle-down", colour: "quiet" },
  SUPERSEDED: { ended: "superseded", shape: "diamond", colour: "quiet" },
  HANDED_OVER: { ended: "handed over", shape: "triangle-right", colour: "mark" },
  DRY_RUN: { ended: "as a dry run", shape: "plus", colour: "quiet" },
};

const KNOWN: ReadonlyMap<string, OutcomeLook> = new Map(Object.entries(LOOKS));

/** Another version may have written one that is not known. */
function lookOf(name: string): OutcomeLook {
  return KNOWN.get(name) ?? { ended: `as ${name}`, shape: "circle", colour: "quiet" };
}

/** How the runs ended, in the order of a legend. */
function outcomesOf(runs: readonly RunLogEntry[]): readonly string[] {
  const all = new Set(runs.map(outcomeWord));
  return [...[...KNOWN.keys()].filter((name) => all.has(name)), ...all.difference(KNOWN)];
}

/**
 * Undefined where no attempt has ended.
 * @param runs oldest first, behind those in the future
 */
export function runsFigure(
  runs: readonly RunLogEntry[],
  limit: RequestLimit,
  nowMs: number,
): Figure | undefined {
  const last = runs.at(-1);
  if (last === undefined) return undefined;
  const took = durationText(median(runs.map(({ seconds }) => seconds)) * 1000);
  if (runs.length === 1)
    return { finding: findingOf(runs), description: `It took ${took}.${requestsText(runs, limit)}` };
  const has = (column: "throttled" | "retries" | "error_message"): boolean => runs.some((run) => run[column]);
  return {
    finding: findingOf(runs),
    description: `Half of them took ${took} or less; the last one took ${durationText(last.seconds * 1000)}.${requestsText(runs, limit)}`,
    chart: runsChart(runs),
    table: table(`The last ${countText(runs.length)} attempts`, runs.toReversed(), [
      ["started, UTC", ({ started_at }) => instantCell(started_at)],
      [
        "outcome",
        (run) => outcomeWord(run) + (isFuture(Date.parse(run.started_at), nowMs) ? ", in the future" : ""),
      ],
      ["reason", reasonOf],
      ["took", ({ seconds }) => durationText(seconds * 1000), "number"],
      ["events", ({ events }) => events, "number"],
      ["requests", ({ requests }) => requests, "number"],
      ...(has("throttled") ? [["429", ({ throttled }: RunLogEntry) => throttled, "number"] as const] : []),
      ...(has("retries") ? [["sent again", ({ retries }: RunLogEntry) => retries, "number"] as const] : []),
      ["received", ({ bytes }) => (bytes === null ? null : sizeText(bytes)), "number"],
      ["by", ({ trigger, attempt }) => (attempt === 1 ? trigger : `${trigger}, attempt ${attempt}`)],
      ...(has("error_message")
        ? [["message", ({ error_message }: RunLogEntry) => error_message, "long"] as const]
        : []),
    ]),
  };
}

/** `The last 30 attempts of runs: 28 published, 1 held, 1 failed`. */
function findingOf(runs: readonly RunLogEntry[]): string {
  const counts = outcomesOf(runs).map((name) => ({
    ended: lookOf(name).ended,
    count: runs.filter((run) => outcomeWord(run) === name).length,
  }));
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

/** Requests are drawn where they met trouble. */
function runsChart(runs: readonly RunLogEntry[]): Html {
  const unit = timeUnit(runs);
  const took = runs.map(({ seconds }) => seconds / unit.seconds);
  const trouble = (
    [
      ["answers with 429", "throttled"],
      ["requests sent again", "retries"],
    ] as const
  )
    .map(([title, column]) => ({ title, counts: runs.map((run) => run[column]) }))
    .filter(({ counts }) => counts.some((count) => count));
  const drawn = (name: string): Html => {
    const { shape, colour } = lookOf(name);
    return symbol(shape, html`fill="none" stroke="var(--${colour})" stroke-width="1.75"`);
  };
  return chart(
    [
      {
        title: `${unit.name} that each took`,
        height: 120,
        legend: outcomesOf(runs).map((name) => ({ name, symbol: drawn(name) })),
        scale: niceScale([0, ...took], 4, 0.1),
        marks: ({ x, y, at }) => [
          ...took.map(
            (value, place) =>
              html`<line x1="${x(place)}" x2="${x(place)}" y1="${y(0)}" y2="${y(value)}" stroke="var(--grid)"/>`,
          ),
          ...runs.map((run, place) => at(place, took[place] ?? 0, drawn(outcomeWord(run)))),
        ],
      },
      ...trouble.map(({ title, counts }) => ({ title, height: 36, ...bars(counts) })),
    ],
    runs.map(({ started_at }) => Date.parse(started_at)),
  );
}

/** ` 813 requests in the last run, 90 % of …`: of the last attempt that sent any. */
function requestsText(runs: readonly RunLogEntry[], limit: RequestLimit): string {
  const last = runs.findLast(({ requests }) => (requests ?? 0) > 0);
  if (last === undefined) return "";
  const which = last === runs.at(-1) ? "" : " that sent any";
  return ` ${plural(last.requests ?? 0, "request")} in the last run${which}${shareText(last, limit)}.${troubleText(last, limit)}`;
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
    ? `, more than the budget of today (${limitText(limit)}) allows in that time`
    : `, ${percent}\u00a0% of the budget of that time (${limitText(limit)})`;
}

function limitText({ requestsPerMinute, limitWindowSeconds }: RequestLimit): string {
  const window = limitWindowSeconds === 60 ? "" : `, on average over ${countText(limitWindowSeconds)} s`;
  return `90\u00a0% of ${countText(Number(requestsPerMinute))} a minute${window}`;
}

function troubleText(run: RunLogEntry, { requestsPerMinute }: RequestLimit): string {
  const answers = run.throttled ? ` ${throttledText(run, requestsPerMinute, ANY_SHELL)}.` : "";
  return run.retries ? `${answers} ${plural(run.retries, "was sent again", "were sent again")}.` : answers;
}
