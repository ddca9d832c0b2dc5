// How many requests the attempts sent, against what the limit allows in that time, and what the service refused.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import type { RunLogEntry } from "../../../../lambdas/job/run/record/run-log.ts";
import { windowAllowance } from "../../../../lambdas/job/settings/limit.ts";
import { minute } from "../../output/minute.ts";
import { plural, throttledText } from "../../output/progress-text.ts";
import type { AccountReport, RequestLimit } from "../data/account-report.ts";
import type { Figure } from "../page/figure.ts";
import { type Panel, panels, strip } from "../page/plot.ts";
import { sizeText } from "./storage-figure.ts";

const REQUESTS_HEIGHT = 100;
/** Up to so many times the most that was used, the budget is drawn. */
const NEAR = 1.25;

/** Undefined where no attempt sent a request. */
export function requestsFigure({ runs, limit }: Pick<AccountReport, "runs" | "limit">): Figure | undefined {
  const sent = runs.filter(({ requests }) => (requests ?? 0) > 0);
  const last = sent.at(-1);
  if (last === undefined) return undefined;
  const allowed = sent.map((run) => allowedFor(run, limit));
  const most = Math.max(...sent.map(({ requests }) => requests ?? 0));
  // The scale is that of what was used, so a budget that is far above has no line.
  const limits = allowed.map((count) => (count !== null && count <= NEAR * most ? count : null));
  const counts = strip(
    "requests",
    sent.map(({ requests }) => requests),
    { height: REQUESTS_HEIGHT, limits },
  );
  const refusals = [
    ...refused("429: too many requests", sent, "throttled"),
    ...refused("requests sent again", sent, "retries"),
  ];
  return {
    finding: `${plural(last.requests ?? 0, "request")} in the last run${last === runs.at(-1) ? "" : " that sent any"}${shareText(last, limit)}`,
    description: `${troubleText(last, limit)} The bars are the requests of each attempt. ${limitText(limit, limits)}`,
    chart:
      sent.length === 1
        ? undefined
        : panels(
            [counts, ...refusals],
            sent.map(({ started_at }) => Date.parse(started_at)),
          ),
    table: {
      label: sent.length === 1 ? "Its requests" : "The requests of each attempt",
      columns: [
        { title: "started, UTC" },
        { title: "requests", kind: "number" },
        { title: "allowed", kind: "number" },
        { title: "429", kind: "number" },
        { title: "sent again", kind: "number" },
        { title: "logins", kind: "number" },
        { title: "received", kind: "number" },
      ],
      rows: sent.map((run, index) => rowOf(run, allowed[index] ?? null)).reverse(),
    },
  };
}

/** What a sliding window lets through at most in the time of the attempt; null without a limit. */
export function allowedFor({ seconds }: Pick<RunLogEntry, "seconds">, limit: RequestLimit): number | null {
  if (limit.requestsPerMinute === "unlimited") return null;
  const inWindow = windowAllowance(limit.requestsPerMinute, limit.limitWindowSeconds * 1_000);
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

function limitText(
  { requestsPerMinute, limitWindowSeconds }: RequestLimit,
  limits: readonly (number | null)[],
): string {
  if (requestsPerMinute === "unlimited") return "No limit is set.";
  const window = limitWindowSeconds === 60 ? "" : `, on average over ${countText(limitWindowSeconds)} s`;
  const budget = `90 % of ${countText(requestsPerMinute)} a minute${window}`;
  const [drawn] = limits.filter((limit) => limit !== null);
  return drawn === undefined
    ? `The budget of today, ${budget}, allows far more than was used.`
    : `The lines are what the budget of today allows in that time: ${budget}.`;
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

function refused(
  title: string,
  runs: readonly RunLogEntry[],
  column: "throttled" | "retries",
): readonly Panel[] {
  const counts = runs.map((run) => run[column]);
  return counts.some((count) => (count ?? 0) > 0) ? [strip(title, counts)] : [];
}

function rowOf(run: RunLogEntry, allowed: number | null): readonly string[] {
  const { requests, throttled, retries, logins, bytes } = run;
  const counts = [requests, allowed, throttled, retries, logins].map((count) =>
    count === null ? "" : countText(count),
  );
  return [
    minute(Date.parse(run.started_at)).replace(" UTC", ""),
    ...counts,
    bytes === null ? "" : sizeText(bytes),
  ];
}
