// The mail about a held snapshot or a failed run, line by line: rules of the event bus pass them on.

import { isRefusal } from "../job/errors/sync-error.ts";
import { ifNotAccepted, type Preview, readersSee, wasPinned } from "../job/run/record/held-mark.ts";
import { errorColumns } from "../job/run/record/run-log.ts";
import type { RunResult } from "../job/run/record/run-result.ts";
import { changesText } from "../job/run/record/texts.ts";
import type { Clock } from "../job/runtime/clock.ts";
import { heldCommands, nextOf } from "../words/ends.ts";
import { type Style, say } from "../words/style.ts";
import { type Environment, mailedCommand, styleInAws } from "./style-in-aws.ts";
import { type Mail, mailLine } from "./telemetry.ts";

interface MailPorts {
  readonly environment: Environment;
  readonly clock: Pick<Clock, "now">;
}

/** Undefined where no person has to be told: a retry follows, or the start has found the run finished and told before. */
export function mailOf(account: string, result: RunResult, ports: MailPorts): Mail | undefined {
  const { row, error, explanation, isRepeat, isAbandoned } = result;
  if (isRepeat) return undefined;
  if (row.outcome === "HELD") return heldMail(account, result, ports);
  const style = mailStyle(ports.environment, account);
  const failed = { account, runId: row.run_id, next: say(nextOf(result), style) };
  if (row.reason === "OTHER_VERSION") {
    return failedMail({ ...failed, why: [row.reason, explanation ?? null] }, ports.environment);
  }
  if (row.outcome !== "FAILED" || (error?.isRetryable && !isAbandoned)) return undefined;
  const section = isAbandoned ? "execution" : isRefusal(error) ? "login-refused" : "failed";
  return failedMail({ ...failed, why: [row.error_code, row.error_message], section }, ports.environment);
}

/**
 * Of an error that is not foreseen.
 * @param runId null where the invocation was no run, or did not get as far
 */
export function failedStartMail(
  account: string,
  runId: string | null,
  error: unknown,
  { environment }: Pick<MailPorts, "environment">,
): Mail {
  const { error_code, error_message } = errorColumns(error);
  return failedMail({ account, runId, why: [error_code, error_message] }, environment);
}

const mailStyle = (environment: Environment, account: string): Style =>
  styleInAws(environment, account, mailedCommand);

export function heldMail(account: string, result: RunResult, { environment, clock }: MailPorts): Mail {
  const { row, explanation, preview } = result;
  const { reason, snapshot_id: snapshotId } = row;
  const style = mailStyle(environment, account);
  const { accept, diff } = heldCommands(String(snapshotId), style);
  return mailWith("held", [
    `Account ${account}: a snapshot is held (${reason}). ${readersSee(preview ?? {}, clock.now())}`,
    `Why: ${because([explanation ?? null], say(nextOf(result), style))}`,
    effectOf(preview),
    `Compare: ${diff}`,
    `Publish: ${accept}`,
    `Or wait: ${ifNotAccepted(wasPinned({ reason, preview }))}`,
  ]);
}

interface Failure {
  readonly account: string;
  readonly runId: string | null;
  readonly why: readonly (string | null)[];
  readonly next?: string;
  /** Of the runbook. */
  readonly section?: string;
}

function failedMail(
  { account, runId, why, next = "", section = "failed" }: Failure,
  environment: Environment,
): Mail {
  const run = runId === null ? "A start" : `The run ${runId}`;
  return mailWith(section, [
    `${run} for the account ${account} failed. Readers keep what they have.`,
    `Why: ${because(why, next)}`,
    `When the cause is removed, check: ${mailedCommand(environment, { action: "check", account })}`,
    // A run may take longer than a shell waits.
    `Then run: ${mailedCommand(environment, { action: "run", account }, "--invocation-type Event")}`,
  ]);
}

function because(words: readonly (string | null)[], next: string): string {
  const known = words.filter((each) => each !== null).join(": ");
  return `${known === "" ? "The reason is not known." : known} ${next}`;
}

function effectOf(preview: Preview | undefined): string {
  const { added = null, changed = null, removed = null } = preview ?? {};
  if (added === null || changed === null || removed === null) {
    return "What publishing it would change is not known.";
  }
  return `Publishing it would ${changesText({ added, changed, removed })}.`;
}

function mailWith(section: string, lines: readonly string[]): Mail {
  return { section, ...Object.fromEntries(lines.map((text, index) => [mailLine(index), plain(text)])) };
}

/** A message may name every wrong key of a file. */
const MAX_TEXT = 2_000;

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
