// Reports the result of a run, an accept or a rollback: the metrics that drive alarms, events on the bus, a line in the
// log. An alarm keeps its state while nothing is sent, so a value is sent only by what shows whether the alarm's cause lasts.

import { isRefusal, type SyncError } from "../job/errors/sync-error.ts";
import { type BusEvent, failedStartEvent, runEvent } from "../job/run/record/run-event.ts";
import { isRun, leftOutCount, type RunLogEntry } from "../job/run/record/run-log.ts";
import { publicationOf, type RunResult } from "../job/run/record/run-result.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import { allowance } from "../job/settings/values.ts";
import { heldCommands } from "../words/ends.ts";
import { START_RETRIES } from "./environment.ts";
import type { FunctionPorts, Invocation } from "./function-ports.ts";
import { failedStartMail, mailOf } from "./mail.ts";
import { doubtInAws } from "./style-in-aws.ts";
import type { Mail, MetricValues } from "./telemetry.ts";

/**
 * Returns the publication's number: ten digits, undefined where nothing was published. An error of the result is
 * logged by the caller, which throws it.
 */
export async function reportResult(
  result: RunResult,
  { ports, host: { store }, settings, style }: Omit<Invocation, "context">,
): Promise<string | undefined> {
  const { account } = store;
  const { row, isRepeat } = result;
  const { outcome, run_id, reason, attempt, seconds, requests, retries, throttled } = row;
  ports.metrics(account, attemptMetrics(result, settings));
  const used = isRepeat || requests === null ? {} : { requests, retries, throttled };
  const why = row.error_code ?? reason;
  const { doubt } = doubtInAws(result.doubt, { style, settings });
  const isEnd = !isRepeat && outcome !== "HANDED_OVER" && outcome !== "FAILED";
  if (doubt !== undefined && isEnd) ports.logger.warn(doubt);
  ports.logger.info(`ended as ${outcome}`, { outcome, run_id, attempt, reason: why, seconds, ...used });
  let publication: string | undefined;
  await tell(ports, account, async () => {
    publication = (await publicationOf(store, row))?.publication;
    const event = runEvent(account, result, publication, (snapshotId) => heldCommands(snapshotId, style));
    return event && withMail(event, mailOf(account, result, ports));
  });
  return publication;
}

/** @param runId null where the invocation was no run, or did not get as far */
export async function reportUnexpected(
  ports: TellPorts & Pick<FunctionPorts, "environment">,
  account: string,
  runId: string | null,
  error: unknown,
): Promise<void> {
  ports.metrics(account, { Failed: 1 });
  const { detailType, detail } = failedStartEvent(account, error);
  const event = { detailType, detail: { ...detail, run_id: runId, trigger: null, finished: false } };
  await tell(ports, account, async () => withMail(event, failedStartMail(account, runId, error, ports)));
}

/** Sends an event about an account. That it cannot be sent changes nothing else. */
type TellPorts = Pick<FunctionPorts, "logger" | "metrics" | "sendEvent">;

/** @param make reads what the event says; undefined where there is nothing to send */
export async function tell(
  { logger, metrics, sendEvent }: TellPorts,
  account: string,
  make: () => Promise<BusEvent | undefined>,
): Promise<void> {
  try {
    const event = await make();
    if (event) await sendEvent(event);
  } catch (cause) {
    // The outcome stands without its event, and another start of the same run sends the event again.
    const kind = cause instanceof Error ? cause.name : typeof cause;
    logger.warn("an event about this run could not be sent", { error_kind: kind });
    metrics(account, { EventNotSent: 1 });
  }
}

/** The event with its mail, where there is one. */
function withMail(event: BusEvent, mail: Mail | undefined): BusEvent {
  return mail === undefined ? event : { ...event, detail: { ...event.detail, mail } };
}

export function alarmMetrics(result: RunResult): MetricValues {
  const { row, error, isAbandoned } = result;
  const { outcome, trigger } = row;
  const isMade = outcome === "PUBLISHED" || outcome === "HELD";
  return {
    // A rollback publishes another snapshot than the held one.
    ...(isMade && trigger !== "rollback" ? { Held: outcome === "HELD" ? 1 : 0 } : {}),
    ...(isMade ? { CatalogBehind: 0 } : {}),
    // What a retry heals within the same five minutes would leave the alarm raised until the next run.
    ...(error?.code === "CATALOG_FAILED" && !isRetried(result) ? { CatalogBehind: 1 } : {}),
    ...(isRun(trigger) ? ofRun(row, error, isAbandoned === true) : {}),
  };
}

/**
 * Whether Lambda or the state machine repeats the attempt. A start by hand that waits for its answer is not repeated, and
 * its answer says what failed.
 */
function isRetried({ row: { trigger, attempt }, isAbandoned, isTurn }: RunResult): boolean {
  return isRun(trigger) && isAbandoned === undefined && (isTurn === true || attempt <= START_RETRIES);
}

/**
 * One cause raises one alarm: a refused login is no `Failed`, nor is an error that a retry by Lambda or by the state
 * machine may fix. Where the state machine has given up, it is.
 */
function ofRun(row: RunLogEntry, error: SyncError | undefined, isAbandoned: boolean): MetricValues {
  if (isRefusal(error)) return { LoginRefused: 1 };
  if (row.reason === "OTHER_VERSION") return { Failed: 1 };
  switch (row.outcome) {
    case "PUBLISHED":
    case "HELD":
      return { Failed: 0, LoginRefused: 0 };
    case "DRY_RUN":
      return { LoginRefused: 0 };
    case "FAILED":
      return error?.isRetryable && !isAbandoned ? {} : { Failed: 1 };
    default:
      return {};
  }
}

type Budget = Pick<RunSettings, "requestsPerMinute" | "windowMs">;

/** From its row in the run log. None for a start that found its run finished: the attempt that finished it was counted. */
export function attemptMetrics(result: RunResult, budget: Budget): MetricValues {
  const { row, isRepeat, isAbandoned } = result;
  if (isRepeat) return {};
  const { outcome, requests, seconds, events, added, changed, removed } = row;
  const isPublished = outcome === "PUBLISHED";
  return {
    ...(outcome === "SKIPPED" ? { Skipped: 1 } : {}),
    ...(outcome === "SUPERSEDED" ? { Superseded: 1 } : {}),
    ...(outcome === "DRY_RUN" || isAbandoned ? {} : { DurationSeconds: seconds }),
    ...alarmMetrics(result),
    ...(isPublished ? { Published: 1, Events: events ?? 0 } : {}),
    ...(isPublished ? { Added: added ?? 0, Changed: changed ?? 0, Removed: removed ?? 0 } : {}),
    ...(isPublished || outcome === "HELD" ? { LeftOut: leftOutCount(row) } : {}),
    ...(requests === null
      ? {}
      : { Throttled: row.throttled ?? 0, ...budgetShare(requests, seconds, budget) }),
  };
}

/** A window is full from its first instant, so a run of one second may use a window's budget. */
function budgetShare(
  requests: number,
  seconds: number,
  { requestsPerMinute, windowMs }: Budget,
): MetricValues {
  if (requestsPerMinute === "unlimited") return {};
  const windows = Math.floor((seconds * 1_000) / windowMs) + 1;
  const allowed = allowance(requestsPerMinute, windowMs) * windows;
  return { BudgetShare: Math.round((requests / allowed) * 1000) / 10 };
}
