// What CloudWatch is told about an attempt: the numbers that alarms and the dashboard read.

import type { SyncError } from "../../job/errors/sync-error.ts";
import type { RunLogEntry, Trigger } from "../../job/run/record/run-log.ts";
import type { RunResult } from "../../job/run/record/run-result.ts";
import { allowance, type Limit } from "../../job/settings/limit.ts";

/** Contract: alarms and dashboard name these. Every metric has exactly this one dimension. */
export const METRIC_NAMESPACE = "BrandEventsSync";
export const METRIC_DIMENSION = "account";

/** Contract: each metric and its unit, as CloudWatch spells it. */
export const METRICS = {
  /** 1 for an attempt that published a snapshot, 0 for one that did not; so for the four outcomes that follow. */
  Published: "Count",
  Held: "Count",
  /**
   * Only runs, and only what no retry can mend: an attempt that Lambda repeats is no failure yet, and once its retries
   * are spent the failure queue holds it.
   */
  Failed: "Count",
  Skipped: "Count",
  Superseded: "Count",
  /** Of what was published. */
  Events: "Count",
  Added: "Count",
  Changed: "Count",
  Removed: "Count",
  /** Listed events without a row, in a snapshot that was published or held. */
  LeftOut: "Count",
  Requests: "Count",
  Retries: "Count",
  Throttled: "Count",
  /** 1 where the service accepted the credentials no more. */
  LoginRefused: "Count",
  DurationSeconds: "Seconds",
  /** Requests that were sent, in percent of those that the budget allowed in that time. */
  BudgetShare: "Percent",
  /** 1 where the event about the outcome did not reach the event bus. */
  EventNotSent: "Count",
} as const;

export type MetricName = keyof typeof METRICS;
export type MetricValues = Readonly<Partial<Record<MetricName, number>>>;

const REFUSALS: ReadonlySet<SyncError["code"]> = new Set([
  "LOGIN_REFUSED",
  "ACCOUNT_DISABLED",
  "UNAUTHENTICATED",
]);

/** The numbers of one attempt. None for a start that found its run finished: they were counted then. */
export function metricsOf({ row, error, isRepeat }: RunResult, requestsPerMinute: Limit): MetricValues {
  if (isRepeat) return {};
  return {
    ...(row.outcome === "DRY_RUN" ? {} : outcomeMetrics(row, error)),
    ...dataMetrics(row),
    ...serviceMetrics(row, requestsPerMinute),
    LoginRefused: flag(error !== undefined && REFUSALS.has(error.code)),
  };
}

/** An attempt that ended with an error that nobody foresaw. */
export const UNEXPECTED_ERROR_METRICS: MetricValues = { Failed: 1 };

function outcomeMetrics(
  { outcome, seconds, trigger }: RunLogEntry,
  error: SyncError | undefined,
): MetricValues {
  return {
    Published: flag(outcome === "PUBLISHED"),
    Held: flag(outcome === "HELD"),
    Failed: flag(outcome === "FAILED" && error?.isRetryable !== true && isRun(trigger)),
    Skipped: flag(outcome === "SKIPPED"),
    Superseded: flag(outcome === "SUPERSEDED"),
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
    ...(isPublished || outcome === "HELD" ? { LeftOut: leftOut(row) } : {}),
  };
}

function serviceMetrics(row: RunLogEntry, requestsPerMinute: Limit): MetricValues {
  const { requests, retries, throttled, seconds } = row;
  if (requests === null) return {};
  const budget =
    requestsPerMinute === "unlimited" ? {} : { BudgetShare: share(requests, requestsPerMinute, seconds) };
  return { Requests: requests, Retries: retries ?? 0, Throttled: throttled ?? 0, ...budget };
}

/** An accept or a rollback that fails is known to the person who asked for it. */
export function isRun(trigger: Trigger): boolean {
  return trigger === "schedule" || trigger === "manual";
}

/** Events that were listed and have no row. */
export function leftOut({ gone, forbidden, rejected }: RunLogEntry): number {
  return (gone ?? 0) + (forbidden ?? 0) + (rejected ?? 0);
}

/** A window is full from its first instant, so a run of one second may use a minute's budget. */
function share(requests: number, requestsPerMinute: number, seconds: number): number {
  const windows = Math.floor(seconds / 60) + 1;
  const allowed = allowance(requestsPerMinute) * windows;
  return Math.round((requests / allowed) * 1000) / 10;
}

function flag(isSo: boolean): number {
  return isSo ? 1 : 0;
}
