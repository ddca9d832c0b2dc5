// Writes the lines of the mail about a run that is held or has failed.

import type { SyncError } from "../../job/errors/sync-error.ts";
import type { BusEvent } from "../../job/run/record/bus-event.ts";
import { countText } from "../../job/run/record/count-text.ts";
import type { RunEvent } from "../../job/run/record/run-event.ts";
import type { RunResult } from "../../job/run/record/run-result.ts";
import { isRefusal } from "./alarm-metrics.ts";
import type { Mail } from "./mail.ts";

/** A message may name every wrong key of a file. */
const MAX_TEXT = 2_000;

/**
 * Undefined where no person has to be told: a retry follows, or the start has found the run finished and told before.
 */
export function mailOf(
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
export function withMail(event: RunEvent, mail: Mail | undefined): BusEvent {
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
export function failedMail(account: string, detail: RunEvent["detail"], section: string): Mail {
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
