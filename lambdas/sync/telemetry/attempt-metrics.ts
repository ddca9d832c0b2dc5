// The metrics of one attempt, from its row in the run log.

import { leftOutCount, type RunLogEntry } from "../../job/run/record/run-log.ts";
import type { RunResult } from "../../job/run/record/run-result.ts";
import type { RunSettings } from "../../job/run/run-settings.ts";
import { windowAllowance } from "../../job/settings/limit.ts";
import { alarmMetrics } from "./alarm-metrics.ts";
import type { MetricValues } from "./metrics.ts";

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
