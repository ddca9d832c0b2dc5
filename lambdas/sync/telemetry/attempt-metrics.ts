// The metrics of one attempt, from its row in the run log.

import { leftOutCount, type RunLogEntry } from "../../job/run/record/run-log.ts";
import type { RunResult } from "../../job/run/record/run-result.ts";
import { allowance, type Limit } from "../../job/settings/limit.ts";
import { alarmMetrics } from "./alarm-metrics.ts";
import type { MetricValues } from "./metrics.ts";

/** An attempt that ended with an unforeseen error. */
export const UNEXPECTED_ERROR_METRICS: MetricValues = { Failed: 1 };

/** None for a start that found its run finished: the attempt that finished it was counted. */
export function attemptMetrics(result: RunResult, requestsPerMinute: Limit): MetricValues {
  const { row, isRepeat } = result;
  if (isRepeat) return {};
  return {
    ...(row.outcome === "DRY_RUN" ? {} : outcomeMetrics(row)),
    ...alarmMetrics(result),
    ...dataMetrics(row),
    ...serviceMetrics(row, requestsPerMinute),
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

function serviceMetrics(row: RunLogEntry, requestsPerMinute: Limit): MetricValues {
  const { requests, retries, throttled, seconds } = row;
  if (requests === null) return {};
  const budget =
    requestsPerMinute === "unlimited" ? {} : { BudgetShare: share(requests, requestsPerMinute, seconds) };
  return { Requests: requests, Retries: retries ?? 0, Throttled: throttled ?? 0, ...budget };
}

/** A window is full from its first instant, so a run of one second may use a minute's budget. */
function share(requests: number, requestsPerMinute: number, seconds: number): number {
  const windows = Math.floor(seconds / 60) + 1;
  const allowed = allowance(requestsPerMinute) * windows;
  return Math.round((requests / allowed) * 1000) / 10;
}
