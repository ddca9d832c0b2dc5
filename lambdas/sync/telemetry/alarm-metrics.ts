// The metrics that drive alarms. An alarm keeps its state while nothing is sent, so a value is sent only by what shows
// whether the alarm's cause lasts.

import type { ErrorCode, SyncError } from "../../job/errors/sync-error.ts";
import type { Check } from "../../job/run/check.ts";
import { isRun, leftOutCount, type Outcome, type RunLogEntry } from "../../job/run/record/run-log.ts";
import type { RunResult } from "../../job/run/record/run-result.ts";
import type { RunSettings } from "../../job/run/run-settings.ts";
import { windowAllowance } from "../../job/settings/limit.ts";
import type { MetricValues } from "./metrics.ts";

const REFUSALS: ReadonlySet<unknown> = new Set<ErrorCode>([
  "LOGIN_REFUSED",
  "ACCOUNT_DISABLED",
  "UNAUTHENTICATED",
  "AUTHORIZATION_EXPIRED",
]);

/** Whether the service refused the credentials. */
export function isRefusal(error: SyncError | undefined): boolean {
  return REFUSALS.has(error?.code);
}

export function alarmMetrics({ row: { outcome, trigger }, error, isAbandoned }: RunResult): MetricValues {
  const isMade = outcome === "PUBLISHED" || outcome === "HELD";
  return {
    // A rollback publishes another snapshot than the held one.
    ...(isMade && trigger !== "rollback" ? { Held: outcome === "HELD" ? 1 : 0 } : {}),
    ...(isMade ? { CatalogBehind: 0 } : {}),
    ...(error?.code === "CATALOG_FAILED" ? { CatalogBehind: 1 } : {}),
    ...(isRun(trigger) ? ofRun(outcome, error, isAbandoned === true) : {}),
  };
}

/** A check clears alarms and raises none: the person who started it reads its result. */
export function checkMetrics(checks: readonly Check[]): MetricValues {
  const works = (name: Check["name"]): boolean => checks.some((check) => check.name === name && check.ok);
  return {
    ...(works("list") ? { LoginRefused: 0 } : {}),
    ...(works("catalog") ? { CatalogBehind: 0 } : {}),
  };
}

/**
 * One cause raises one alarm: a refused login is no `Failed`, nor is an error that a retry by Lambda or by the state
 * machine may fix. Where the state machine has given up, it is.
 */
function ofRun(outcome: Outcome, error: SyncError | undefined, isAbandoned: boolean): MetricValues {
  if (isRefusal(error)) return { LoginRefused: 1 };
  switch (outcome) {
    case "PUBLISHED":
    case "HELD":
      return { Failed: 0, LoginRefused: 0 };
    case "DRY_RUN":
      return { LoginRefused: 0 };
    case "FAILED":
      return error?.isRetryable && !isAbandoned ? {} : { Failed: 1 };
    case "SKIPPED":
    case "SUPERSEDED":
    case "HANDED_OVER":
      return {};
  }
}

/** The metrics of one attempt, from its row in the run log. */
type Budget = Pick<RunSettings, "requestsPerMinute" | "windowMs">;

/** An attempt that ended with an unforeseen error. */
export const UNEXPECTED_ERROR_METRICS: MetricValues = { Failed: 1 };

/** None for a start that found its run finished: the attempt that finished it was counted. */
export function attemptMetrics(result: RunResult, budget: Budget): MetricValues {
  const { row, isRepeat, isAbandoned } = result;
  if (isRepeat) return {};
  return {
    ...(row.outcome === "DRY_RUN" || isAbandoned ? {} : outcomeMetrics(row)),
    ...alarmMetrics(result),
    ...dataMetrics(row),
    ...serviceMetrics(row, budget),
  };
}

function outcomeMetrics({ outcome, seconds }: RunLogEntry): MetricValues {
  const flag = (counted: RunLogEntry["outcome"]): number => (outcome === counted ? 1 : 0);
  return {
    Published: flag("PUBLISHED"),
    Skipped: flag("SKIPPED"),
    Superseded: flag("SUPERSEDED"),
    DurationSeconds: seconds,
  };
}

function dataMetrics(row: RunLogEntry): MetricValues {
  const { outcome, events, added, changed, removed } = row;
  const isPublished = outcome === "PUBLISHED";
  return {
    ...(isPublished && events !== null ? { Events: events } : {}),
    ...(isPublished && added !== null ? { Added: added } : {}),
    ...(isPublished && changed !== null ? { Changed: changed } : {}),
    ...(isPublished && removed !== null ? { Removed: removed } : {}),
    ...(isPublished || outcome === "HELD" ? { LeftOut: leftOutCount(row) } : {}),
  };
}

function serviceMetrics(row: RunLogEntry, budget: Budget): MetricValues {
  const { requests, retries, throttled, seconds } = row;
  if (requests === null) return {};
  const share =
    budget.requestsPerMinute === "unlimited" ? {} : { BudgetShare: shareOf(requests, seconds, budget) };
  return { Requests: requests, Retries: retries ?? 0, Throttled: throttled ?? 0, ...share };
}

/** A window is full from its first instant, so a run of one second may use a window's budget. */
function shareOf(requests: number, seconds: number, { requestsPerMinute, windowMs }: Budget): number {
  const windows = Math.floor((seconds * 1_000) / windowMs) + 1;
  const allowed = windowAllowance(requestsPerMinute, windowMs) * windows;
  return Math.round((requests / allowed) * 1000) / 10;
}
