// Reports the result of a run, an accept or a rollback: the metrics that drive alarms, events on the bus with the lines
// of a mail, a line in the log. An alarm keeps its state while nothing is sent, so a value is sent only by what shows
// whether the alarm's cause lasts.

import type { ErrorCode, SyncError } from "../job/errors/sync-error.ts";
import type { Check } from "../job/run/check.ts";
import { publishedFieldChanges } from "../job/run/publish/log-fields.ts";
import { countText } from "../job/run/record/count-text.ts";
import {
  type BusEvent,
  failedStartEvent,
  fieldsChangedEvent,
  type RunEvent,
  runEvent,
} from "../job/run/record/run-event.ts";
import { isRun, leftOutCount, type Outcome, type RunLogEntry } from "../job/run/record/run-log.ts";
import { publicationOf, type RunResult } from "../job/run/record/run-result.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import { windowAllowance } from "../job/settings/limit.ts";
import type { Publication } from "../job/storage/publication-log.ts";
import { accountStore } from "../job/storage/store.ts";
import type { FunctionPorts } from "./function-ports.ts";
import { heldInvocations } from "./response.ts";
import type { Mail } from "./telemetry/mail.ts";
import type { MetricValues } from "./telemetry/metrics.ts";

interface ReportOptions {
  readonly ports: Pick<FunctionPorts, "environment" | "store" | "log" | "metrics" | "sendEvent">;
  readonly account: string;
  readonly settings: RunSettings;
}

/**
 * Returns the publication's number: ten digits, undefined where nothing was published. An error of the result is
 * logged by the caller, which throws it.
 */
export async function reportResult(
  result: RunResult,
  { ports, account, settings }: ReportOptions,
): Promise<string | undefined> {
  const { row, error } = result;
  const { outcome, run_id, reason, attempt, seconds } = row;
  ports.metrics(account, attemptMetrics(result, settings));
  if (!error) ports.log.info(`ended as ${outcome}`, { outcome, run_id, attempt, reason, seconds });
  const store = accountStore(ports.store, account);
  let published: Publication | undefined;
  await tell(ports, account, async () => {
    published = await publicationOf(store, row);
    const event = runEvent(account, result, published?.publication, (snapshotId) =>
      heldInvocations(ports.environment, account, snapshotId),
    );
    return event && withMail(event, mailOf(event, result));
  });
  const publication = published;
  if (publication === undefined) return undefined;
  await tell(ports, account, async () => {
    const changes = await publishedFieldChanges(store, publication);
    return changes && fieldsChangedEvent(account, row, publication, changes);
  });
  return publication.publication;
}

/** @param runId null where the invocation was no run, or did not get as far */
export async function reportUnexpected(
  ports: TellPorts,
  account: string,
  runId: string | null,
  error: unknown,
): Promise<void> {
  ports.metrics(account, UNEXPECTED_ERROR_METRICS);
  const { detailType, detail } = failedStartEvent(account, error);
  const event = { detailType, detail: { ...detail, run_id: runId, trigger: null, finished: false } };
  await tell(ports, account, async () => withMail(event, failedMail(account, event.detail, "failed")));
}

/** Sends an event about an account. That it cannot be sent changes nothing else. */
type TellPorts = Pick<FunctionPorts, "log" | "metrics" | "sendEvent">;

/** @param make reads what the event says; undefined where there is nothing to send */
export async function tell(
  { log, metrics, sendEvent }: TellPorts,
  account: string,
  make: () => Promise<BusEvent | undefined>,
): Promise<void> {
  try {
    const event = await make();
    if (event) await sendEvent(event);
  } catch (cause) {
    // The outcome stands without its event, and another start of the same run sends the event again.
    const kind = cause instanceof Error ? cause.name : typeof cause;
    log.warn("an event about this run could not be sent", { error_kind: kind });
    metrics(account, { EventNotSent: 1 });
  }
}

/** A message may name every wrong key of a file. */
const MAX_TEXT = 2_000;

/**
 * Undefined where no person has to be told: a retry follows, or the start has found the run finished and told before.
 */
function mailOf(
  { detailType, detail }: RunEvent,
  { error, isRepeat, isAbandoned }: RunResult,
): Mail | undefined {
  if (isRepeat) return undefined;
  const account = String(detail["account"]);
  switch (detailType) {
    case "Snapshot Published":
      return undefined;
    case "Snapshot Held":
      return heldMail(account, detail);
    case "Run Failed":
      if (error?.isRetryable && !isAbandoned) return undefined;
      return failedMail(account, detail, isAbandoned ? "execution" : sectionOf(error));
  }
}

/** The event with the lines of its mail, where there is one. */
function withMail(event: RunEvent, mail: Mail | undefined): BusEvent {
  return mail === undefined ? event : { ...event, detail: { ...event.detail, mail: { ...mail } } };
}

function heldMail(account: string, detail: RunEvent["detail"]): Mail {
  const snapshotId = String(detail["snapshot_id"]);
  return {
    section: "held",
    what: `The snapshot ${snapshotId} of the account ${account} is held: it waits for a person to decide. Readers keep what they have.`,
    why: because(detail["reason"], detail["explanation"]),
    effect: `${changes(detail)} ${missing(detail)}`.trim(),
    examples: examples(detail["uuids"]),
    wait: plain(String(detail["wait"])),
    diff: payload({ action: "diff", account, snapshotId }),
    accept: payload({ action: "accept", account, snapshotId }),
  };
}

/** @param section of the runbook */
function failedMail(account: string, detail: RunEvent["detail"], section: string): Mail {
  const run = detail["run_id"] === null ? "A start" : `The run ${String(detail["run_id"])}`;
  return {
    section,
    what: `${run} for the account ${account} failed. Readers keep what they have.`,
    why: because(detail["error_code"], detail["error_message"]),
    check: payload({ action: "check", account }),
    run: payload({ action: "run", account }),
  };
}

function sectionOf(error: SyncError | undefined): string {
  return isRefusal(error) ? "login-refused" : "failed";
}

function because(code: unknown, text: unknown): string {
  const words = [code, text].flatMap((each) => (typeof each === "string" ? [plain(each)] : []));
  return words.length === 0 ? "The reason is not known." : words.join(": ");
}

function changes({ added, changed, removed }: RunEvent["detail"]): string {
  if (typeof added !== "number" || typeof changed !== "number" || typeof removed !== "number") {
    return "What publishing it would change is not known.";
  }
  return `Publishing it would add ${countText(added)}, change ${countText(changed)} and remove ${countText(removed)} events.`;
}

function missing(detail: RunEvent["detail"]): string {
  const { listed, left_out: left } = detail;
  if (typeof listed !== "number" || typeof left !== "number" || left === 0) return "";
  const reasons = (["gone", "forbidden", "rejected"] as const).flatMap((key) => {
    const value = detail[key];
    return typeof value === "number" && value > 0 ? [`${countText(value)} ${key}`] : [];
  });
  const why = reasons.length === 0 ? "" : ` (${reasons.join(", ")})`;
  return `Of ${countText(listed)} listed events ${countText(left)} have no row${why}.`;
}

/** `added 5a…, 7c…; removed 9e…`. */
function examples(uuids: unknown): string {
  const kinds = typeof uuids === "object" && uuids !== null ? Object.entries(uuids) : [];
  const named = kinds.flatMap(([kind, list]: readonly [string, unknown]) =>
    Array.isArray(list) && list.length > 0
      ? [`${kind} ${list.map((each) => plain(String(each))).join(", ")}`]
      : [],
  );
  return named.length === 0 ? "none are known" : named.join("; ");
}

function payload(input: object): string {
  return Buffer.from(JSON.stringify(input)).toString("base64");
}

/**
 * EventBridge puts a value into its template as it is: a double quote, a backslash or a line break would end the line
 * early or make the template invalid, and "<" would begin a variable.
 */
function plain(text: string): string {
  const words = text
    .toWellFormed()
    .replaceAll('"', "'")
    .replaceAll("\\", "/")
    .replaceAll("<", "(")
    .replaceAll(">", ")")
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, invisible)
    .trim();
  return words.length > MAX_TEXT ? `${words.slice(0, MAX_TEXT).toWellFormed()}…` : words;
}

function invisible(character: string): string {
  return `(U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")})`;
}

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
const UNEXPECTED_ERROR_METRICS: MetricValues = { Failed: 1 };

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
