// Reports the result of a run, an accept or a rollback: the metrics that drive alarms, events on the bus with the lines
// of a mail, a line in the log. An alarm keeps its state while nothing is sent, so a value is sent only by what shows
// whether the alarm's cause lasts.

import { shellWord } from "../job/errors/shown-text.ts";
import { isRefusedLogin, type SyncError } from "../job/errors/sync-error.ts";
import { ifNotAccepted, type Preview, readersSee, wasPinned } from "../job/run/record/held-mark.ts";
import { type BusEvent, failedStartEvent, runEvent } from "../job/run/record/run-event.ts";
import { errorColumns, isRun, leftOutCount, type RunLogEntry } from "../job/run/record/run-log.ts";
import { publicationOf, type RunResult } from "../job/run/record/run-result.ts";
import { changesText } from "../job/run/record/texts.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import type { ListDoubt, ListTrial } from "../job/service/event-service.ts";
import { allowance } from "../job/settings/values.ts";
import { doubtText } from "../words/doubt.ts";
import { heldCommands, nextOf } from "../words/ends.ts";
import { awsStyle, type Style, say } from "../words/style.ts";
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
  const why = row.error_code ?? reason;
  const { doubt } = doubtInAws(result.doubt, styleInAws(ports.environment, account), settings);
  const isEnd = !isRepeat && outcome !== "HANDED_OVER" && outcome !== "FAILED";
  if (doubt !== undefined && isEnd) ports.logger.warn(doubt);
  ports.logger.info(`ended as ${outcome}`, { outcome, run_id, attempt, reason: why, seconds, ...used });
  let publication: string | undefined;
  await tell(ports, account, async () => {
    publication = (await publicationOf(store, row))?.publication;
    const event = runEvent(account, result, publication, (snapshotId) =>
      heldCommands(snapshotId, styleInAws(ports.environment, account)),
    );
    return event && withMail(event, mailOf(account, result, ports.environment, ports.clock.now()));
  });
  return publication;
}

/** How settings and commands are spelled in answers and logs. */
export function styleInAws(environment: Environment, account: string, invoke = invokeCommand): Style {
  const { secretId, tokensSecretId, authUrl } = environment.accounts?.[account] ?? {};
  const options = {
    "--auth-url": authUrl,
    "--credentials": `secretsmanager:${secretId}`,
    "--tokens": `secretsmanager:${tokensSecretId}`,
  };
  const words = Object.entries(options).flatMap(([option, value]) => [option, shellWord(String(value))]);
  return awsStyle(account, {
    invoke: (input) => invoke(environment, input),
    authorize:
      authUrl === undefined
        ? undefined
        : [environment.program ?? "npm run sync --", "authorize", ...words].join(" "),
  });
}

/** In an answer, what is said of a list that may be a part only; what was tried where that is given. */
export function doubtInAws(
  doubt: ListDoubt | undefined,
  style: Style,
  { nextPage }: Pick<RunSettings, "nextPage">,
  trial?: { readonly found: ListTrial | undefined },
): { readonly doubt?: string } {
  const said = doubtText(doubt, { nextPage, style, trial });
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

type Environment = Pick<FunctionEnvironment, "region" | "functionName"> &
  Partial<Pick<FunctionEnvironment, "accounts" | "program">>;

/**
 * Undefined where no person has to be told: a retry follows, or the start has found the run finished and told before.
 */
function mailOf(
  account: string,
  result: RunResult,
  environment: Environment,
  nowMs: number,
): Mail | undefined {
  const { row, error, explanation, isRepeat, isAbandoned } = result;
  if (isRepeat) return undefined;
  const style = styleInAws(environment, account, (of, input) => mailedCommand(of, payload(input)));
  const next = say(nextOf(result), style);
  if (row.outcome === "HELD") return heldMail(account, result, style, nowMs);
  if (row.reason === "OTHER_VERSION") {
    const { run_id, reason } = row;
    return failedMail(account, { run_id, error_code: reason, error_message: explanation ?? null, next });
  }
  if (row.outcome !== "FAILED" || (error?.isRetryable && !isAbandoned)) return undefined;
  const section = isRefusal(error) ? "login-refused" : "failed";
  return failedMail(account, { ...row, next }, isAbandoned ? "execution" : section);
}

/** The event with the lines of its mail, where there is one. */
function withMail(event: BusEvent, mail: Mail | undefined): BusEvent {
  return mail === undefined ? event : { ...event, detail: { ...event.detail, mail: { ...mail } } };
}

/** The lines of the mail about a held snapshot. */
export function heldMail(account: string, result: RunResult, style: Style, nowMs: number): Mail {
  const { row, explanation, preview } = result;
  const snapshotId = String(row.snapshot_id);
  return {
    section: "held",
    what: `Account ${account}: a snapshot is held (${row.reason}). ${readersSee(preview ?? {}, nowMs)}`,
    why: because([explanation ?? null], say(nextOf(result), style)),
    effect: changes(preview),
    wait: ifNotAccepted(wasPinned({ reason: row.reason, preview })),
    diff: payload({ action: "diff", account, snapshotId }),
    accept: payload({ action: "accept", account, snapshotId }),
  };
}

/** The command needs a shell with credentials for the AWS account. */
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
  failed: { readonly [Key in "run_id" | "error_code" | "error_message"]: string | null } & {
    readonly next?: string;
  },
  section = "failed",
): Mail {
  const run = failed.run_id === null ? "A start" : `The run ${failed.run_id}`;
  return {
    section,
    what: `${run} for the account ${account} failed. Readers keep what they have.`,
    why: because([failed.error_code, failed.error_message], failed.next),
    check: payload({ action: "check", account }),
    run: payload({ action: "run", account }),
  };
}

function because(words: readonly (string | null)[], next = ""): string {
  const known = words.filter((each) => each !== null).join(": ");
  return plain(`${known === "" ? "The reason is not known." : known} ${next}`);
}

function changes(preview: Preview | undefined): string {
  const { added = null, changed = null, removed = null } = preview ?? {};
  if (added === null || changed === null || removed === null) {
    return "What publishing it would change is not known.";
  }
  return `Publishing it would ${changesText({ added, changed, removed })}.`;
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
  if (row.reason === "OTHER_VERSION") return { Failed: 1 };
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
