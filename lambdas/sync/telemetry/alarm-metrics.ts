// The metrics that drive alarms. An alarm keeps its state while nothing is sent, so a value is sent only by what shows
// whether the alarm's cause lasts.

import type { ErrorCode, SyncError } from "../../job/errors/sync-error.ts";
import type { Check } from "../../job/run/check.ts";
import { isRun, type Outcome } from "../../job/run/record/run-log.ts";
import type { RunResult } from "../../job/run/record/run-result.ts";
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
