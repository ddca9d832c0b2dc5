// Reports the result of a run, an accept or a rollback: the metrics that drive alarms, events on the bus with the lines
// of a mail, a line in the log. An alarm keeps its state while nothing is sent, so a value is sent only by what shows
// whether the alarm's cause lasts.

import { shellWord } from "../job/errors/shown-text.ts";
import {
  isRefusedLogin,
  type StartDecision,
  type SyncError,
  withCommands,
} from "../job/errors/sync-error.ts";
import { type HeldCommands, ifNotAccepted, type Preview, wasPinned } from "../job/run/record/held-mark.ts";
import { doubtText } from "../job/run/record/list-doubt.ts";
import { type BusEvent, failedStartEvent, runEvent } from "../job/run/record/run-event.ts";
import {
  errorColumns,
  isRun,
  isStranded,
  leftOutCount,
  type RunLogEntry,
} from "../job/run/record/run-log.ts";
import { publicationOf, type RunResult } from "../job/run/record/run-result.ts";
import { changesText, missingText } from "../job/run/record/texts.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import type { ListDoubt, ListTrial } from "../job/service/event-service.ts";
import { allowance } from "../job/settings/values.ts";
import { type FunctionEnvironment, START_RETRIES } from "./environment.ts";
import type { FunctionPorts, Invocation } from "./function-ports.ts";
import { type Mail, type MetricValues, mailedCommand } from "./telemetry.ts";

/**
 * Returns the publication's number: ten digits, undefined where nothing was published. An error of the result is
 * logged by the caller, which throws it.
 */
export async function reportResult(
  result: RunResult,
  { ports, host: { store }, settings }: Pick<Invocation, "ports" | "host" | "settings">,
): Promise<string | undefined> {
  const { account } = store;
  const { row, isRepeat } = result;
  const { outcome, run_id, reason, attempt, seconds, requests, retries, throttled } = row;
  ports.metrics(account, attemptMetrics(result, settings));
  const used = isRepeat || requests === null ? {} : { requests, retries, throttled };
  const why = reason ?? row.error_code;
  const { doubt } = doubtInAws(result.doubt, account, settings);
  const isEnd = !isRepeat && outcome !== "HANDED_OVER" && outcome !== "FAILED";
  if (doubt !== undefined && isEnd) ports.logger.warn(doubt);
  ports.logger.info(`ended as ${outcome}`, { outcome, run_id, attempt, reason: why, seconds, ...used });
  let publication: string | undefined;
  await tell(ports, account, async () => {
    publication = (await publicationOf(store, row))?.publication;
    const event = runEvent(account, result, publication, (snapshotId) =>
      heldInvocations(ports.environment, account, snapshotId),
    );
    return event && withMail(event, mailOf(account, result, ports.environment));
  });
  return publication;
}

/** In an answer, what is said of a list that may be a part only; what was tried where that is given. */
export function doubtInAws(
  doubt: ListDoubt | undefined,
  account: string,
  { nextPage }: Pick<RunSettings, "nextPage">,
  trial?: { readonly found: ListTrial | undefined },
): { readonly doubt?: string } {
  const check = `the function with ${JSON.stringify({ action: "check", account })}`;
  const said = doubtText(doubt, {
    nextPage,
    set: (value) => `"nextPage": ${JSON.stringify(value)} of the account ${account} in cdk.json`,
    ...(trial ? { trial: trial.found } : { check }),
  });
  return said === undefined ? {} : { doubt: said };
}

/** @param runId null where the invocation was no run, or did not get as far */
export async function reportUnexpected(
  ports: TellPorts,
  account: string,
  runId: string | null,
  error: unknown,
): Promise<void> {
  ports.metrics(account, { Failed: 1 });
  const { detailType, detail } = failedStartEvent(account, error);
  const event = { detailType, detail: { ...detail, run_id: runId, trigger: null, finished: false } };
  const failed = { run_id: runId, ...errorColumns(error) };
  await tell(ports, account, async () => withMail(event, failedMail(account, failed)));
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

/** A message may name every wrong key of a file. */
const MAX_TEXT = 2_000;

type Environment = Pick<FunctionEnvironment, "region" | "functionName">;

/**
 * Undefined where no person has to be told: a retry follows, or the start has found the run finished and told before.
 */
function mailOf(account: string, result: RunResult, environment: Environment): Mail | undefined {
  const { row, error, explanation, isRepeat, isAbandoned } = result;
  if (isRepeat) return undefined;
  if (row.outcome === "HELD") return heldMail(account, result);
  if (isStranded(row)) {
    const { run_id, reason } = row;
    return failedMail(account, { run_id, error_code: reason, error_message: explanation ?? null });
  }
  if (row.outcome !== "FAILED" || (error?.isRetryable && !isAbandoned)) return undefined;
  const section = isRefusal(error) ? "login-refused" : "failed";
  const why =
    row.error_message &&
    withCommands(row.error_message, (decision) =>
      mailedCommand(environment, payload(startInput(account, decision))),
    );
  return failedMail(account, { ...row, error_message: why }, isAbandoned ? "execution" : section);
}

/** The event with the lines of its mail, where there is one. */
function withMail(event: BusEvent, mail: Mail | undefined): BusEvent {
  return mail === undefined ? event : { ...event, detail: { ...event.detail, mail: { ...mail } } };
}

function heldMail(account: string, { row, explanation, preview }: RunResult): Mail {
  const snapshotId = String(row.snapshot_id);
  return {
    section: "held",
    what: `The snapshot ${snapshotId} of the account ${account} is held: it waits for a person to decide. Readers keep what they have.`,
    why: because(row.reason, explanation ?? null),
    effect: [changes(preview), missing(row, preview)].filter((part) => part !== "").join(" "),
    examples: examples(preview),
    wait: ifNotAccepted(wasPinned({ reason: row.reason, preview })),
    diff: payload({ action: "diff", account, snapshotId }),
    accept: payload({ action: "accept", account, snapshotId }),
  };
}

export function heldInvocations(environment: Environment, account: string, snapshotId: string): HeldCommands {
  const command = (action: string): string => invokeCommand(environment, { action, account, snapshotId });
  return { accept: command("accept"), diff: command("diff") };
}

/** Starts a run as a person has decided. */
export function startCommand(environment: Environment, account: string, decision: StartDecision): string {
  return invokeCommand(environment, startInput(account, decision));
}

function startInput(account: string, decision?: StartDecision): object {
  return { action: "run", account, ...(decision && { [decision]: true }) };
}

/** It needs a shell with credentials for the AWS account. */
export function invokeCommand({ region, functionName }: Environment, input: object): string {
  return [
    "aws lambda invoke",
    ...["--region", region, "--function-name", `${functionName}:live`].map(shellWord),
    "--cli-read-timeout 900 --cli-binary-format raw-in-base64-out",
    `--payload ${shellWord(JSON.stringify(input))} /dev/stdout`,
  ].join(" ");
}

/** @param section of the runbook */
function failedMail(
  account: string,
  failed: { readonly [Key in "run_id" | "error_code" | "error_message"]: string | null },
  section = "failed",
): Mail {
  const run = failed.run_id === null ? "A start" : `The run ${failed.run_id}`;
  return {
    section,
    what: `${run} for the account ${account} failed. Readers keep what they have.`,
    why: because(failed.error_code, failed.error_message),
    check: payload({ action: "check", account }),
    run: payload(startInput(account)),
  };
}

function because(...words: readonly (string | null)[]): string {
  const known = words.filter((each) => each !== null);
  return known.length === 0 ? "The reason is not known." : known.map(plain).join(": ");
}

function changes(preview: Preview | undefined): string {
  const { added = null, changed = null, removed = null } = preview ?? {};
  if (added === null || changed === null || removed === null) {
    return "What publishing it would change is not known.";
  }
  return `Publishing it would ${changesText({ added, changed, removed })}.`;
}

function missing({ listed, ...row }: RunLogEntry, preview: Preview | undefined): string {
  const text = missingText({ ...(preview ?? row), listed });
  return text === "" ? "" : `${text}.`;
}

/** `added 5a…, 7c…; removed 9e…`. */
function examples(preview: Preview | undefined): string {
  const named = Object.entries(preview?.uuids ?? {})
    .filter(([, uuids]) => uuids.length > 0)
    .map(([kind, uuids]) => `${kind} ${uuids.map(plain).join(", ")}`);
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

/** Whether the service refused the credentials, at a login or, with the method basic, at a request. */
export function isRefusal(error: SyncError | undefined): boolean {
  return error?.code === "UNAUTHENTICATED" || isRefusedLogin(error);
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
  if (isStranded(row)) return { Failed: 1 };
  switch (row.outcome) {
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
