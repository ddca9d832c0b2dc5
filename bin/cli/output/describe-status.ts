// An account in words: what readers see, which run is active, and what is held: what publishing it would do, which events
// that concerns, and the commands to paste.

import type { AccountStatus, Status } from "../../../lambdas/job/commands/status.ts";
import type { Advice } from "../../../lambdas/job/errors/advice.ts";
import { RETRYABLE_CODES } from "../../../lambdas/job/errors/sync-error.ts";
import { nameOfExecution } from "../../../lambdas/job/run/lease/lease-file.ts";
import type { Held, HeldSnapshot } from "../../../lambdas/job/run/publish/held-snapshots.ts";
import { ifNotAccepted, type Preview } from "../../../lambdas/job/run/record/held-mark.ts";
import { isRun, type RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import {
  changesText,
  countText,
  durationText,
  missingByReason,
} from "../../../lambdas/job/run/record/texts.ts";
import { isFuture } from "../../../lambdas/job/runtime/clock.ts";
import { runInstant } from "../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../lambdas/job/storage/publication.ts";
import { afterFailure, heldCommands, names, START, whySkipped } from "../../../lambdas/words/ends.ts";
import { type Style, say } from "../../../lambdas/words/style.ts";
import { type StyleHere, sentence } from "./next-command.ts";
import { formatTable, type TableRows } from "./table.ts";
import { age, changeCounts, minute, plural, repeatedEntries } from "./words.ts";

/** What readers see, from when, and whether later runs are held. */
export function describeHead(head: Publication | undefined, nowMs: number): readonly string[] {
  if (head === undefined) return ["  readers see  nothing: no snapshot is published yet"];
  const { events, snapshot_id: snapshotId, published_at, publication, action, pinned } = head;
  const madeAt = madeAtMs(head);
  const by = action === "run" ? "" : ` by ${action}`;
  const lines = [
    `  readers see  ${plural(events, "event")} of ${minute(madeAt)}, ${age(madeAt, nowMs)} (snapshot ${snapshotId})`,
    `  published    ${minute(Date.parse(published_at))}${by}, as number ${Number(publication)}: ${changeCounts(head)}`,
  ];
  if (pinned) lines.push("  pinned       yes: later runs are held until you accept one");
  return lines;
}

/** The run that is active, and the execution that it was handed over to. */
export function running({ run_id, execution }: NonNullable<Status["lease"]>): string {
  return execution === undefined ? run_id : `${run_id}, in the execution ${nameOfExecution(execution)}`;
}

/** The held snapshots that are later than what readers see. */
export function publishableOf({ head, held }: Pick<Status, "head" | "held">): readonly HeldSnapshot[] {
  return held.filter(({ snapshotId }) => snapshotId > (head?.snapshot_id ?? ""));
}

/** The outcome as a person reads it: nothing is wrong with a run that was stopped, though the log has it as `FAILED`. */
export function outcomeWord({ outcome, error_code }: Pick<RunLogEntry, "outcome" | "error_code">): string {
  return error_code === "INTERRUPTED" ? "interrupted" : outcome;
}

/** Why an attempt ended as it did, in a word or two; empty where its outcome says all. */
export function reasonOf({ reason, error_code }: Pick<RunLogEntry, "reason" | "error_code">): string {
  return [reason, error_code].filter((part) => part !== null && part !== "INTERRUPTED").join(" ");
}

/** The newest run that came to nothing, since a snapshot was last published or held. What a person tried says nothing. */
export function troubleOf({ runs, lease }: Pick<Status, "runs" | "lease">): RunLogEntry | undefined {
  const telling = runs.find(
    ({ outcome, trigger, reason }) =>
      outcome === "PUBLISHED" ||
      outcome === "HELD" ||
      (isRun(trigger) && outcome === "FAILED" && reason !== "DRY_RUN") ||
      (isRun(trigger) && outcome === "SKIPPED" && (reason !== "LEASE_TAKEN" || lease === null)),
  );
  return telling?.outcome === "FAILED" || telling?.outcome === "SKIPPED" ? telling : undefined;
}

/** How soon an account needs a person: the lowest comes first. */
export const URGENCY = ["damaged", "held", "troubled", "empty", "well"] as const;

export function urgencyOf(one: AccountStatus): (typeof URGENCY)[number] {
  if ("damage" in one) return "damaged";
  if (publishableOf(one).length > 0) return "held";
  if (troubleOf(one)) return "troubled";
  return one.head === null ? "empty" : "well";
}

/**
 * `FAILED LOGIN_REFUSED at 2026-11-21 06:00 UTC: … Then start again: … run`.
 * @param advice what is known beside the row
 */
export function describeTrouble(row: RunLogEntry, style: StyleHere, advice: Advice = []): string {
  const { outcome, reason, error_code: code, error_message: message, started_at } = row;
  const isUnfinished = RETRYABLE_CODES.some((each) => each === code);
  const step = outcome === "FAILED" ? afterFailure(code, isUnfinished) : START;
  return [
    [outcomeWord(row), reasonOf(row), `at ${minute(Date.parse(started_at))}:`]
      .filter((part) => part !== "")
      .join(" "),
    sentence(message ?? whySkipped(reason)),
    say(advice, style),
    names(advice, step) ? "" : style.step(step).join(": "),
  ]
    .filter((part) => part !== "")
    .join(" ");
}

/** What it came to: `12 events: 12 added, 0 changed, 0 removed`. */
export function cameTo(row: RunLogEntry): string {
  const events = row.events === null ? "" : plural(row.events, "event");
  const what = row.added === null || row.outcome === "FAILED" ? reasonOf(row) : changeCounts(row);
  return [events, what].filter((part) => part !== "").join(": ") + repeatedEntries(row);
}

const COLUMNS = ["account", "readers see", "as of", "last outcome", "held", "running"] as const;

/** How much a table says: all; ages alone; the most urgent alone, which are no counts and no outcome beside its reason. */
const DETAILS = ["all", "ages", "urgent"] as const;
type Detail = (typeof DETAILS)[number];

/**
 * All accounts of a warehouse, a line each. A column that is empty for all is not there.
 * @param width columns of the terminal: a table that is wider says less
 */
export function statusTable(
  found: readonly AccountStatus[],
  nowMs: number,
  width = Number.POSITIVE_INFINITY,
): TableRows {
  const tableWith = (detail: Detail): TableRows =>
    withoutEmpty(found.map((one) => rowOf(one, nowMs, detail)));
  const fits = (detail: Detail): boolean =>
    formatTable(tableWith(detail))
      .split("\n")
      .every((line) => line.length <= width);
  return tableWith(DETAILS.find(fits) ?? "urgent");
}

function withoutEmpty(rows: readonly (readonly string[])[]): TableRows {
  const isUsed = COLUMNS.map((_, index) => rows.some((row) => row[index] !== ""));
  const used = <T>(values: readonly T[]): readonly T[] => values.filter((_, index) => isUsed[index]);
  return { columns: used(COLUMNS), rows: rows.map(used) };
}

function rowOf(one: AccountStatus, nowMs: number, detail: Detail): readonly string[] {
  if ("damage" in one) return [one.account, `unknown: ${one.damage.code}`, "", "", "", ""];
  const { account, head, lease, runs } = one;
  // What a person tried says nothing of the account, and a verification nothing of the runs.
  const last = runs.find(
    ({ trigger, outcome, reason }) =>
      trigger !== "verify" && outcome !== "DRY_RUN" && !(outcome === "FAILED" && reason === "DRY_RUN"),
  );
  const held = publishableOf(one).length;
  const isUnknown = head === null && lease === null && last === undefined;
  const sees = head === null ? "nothing" : `${plural(head.events, "event")}${head.pinned ? ", pinned" : ""}`;
  return [
    account,
    detail === "urgent" ? "" : sees,
    head === null ? (detail === "urgent" ? "nothing" : "") : asOf(madeAtMs(head), nowMs, detail),
    last === undefined ? (isUnknown ? "never ran" : "") : lastOutcome(last, detail),
    held === 0 ? "" : String(held),
    lease === null ? "" : detail === "all" ? running(lease) : runningFor(lease, nowMs),
  ];
}

function lastOutcome(last: RunLogEntry, detail: Detail): string {
  const reason = reasonOf(last);
  return detail === "urgent" && reason !== "" ? reason : `${outcomeWord(last)} ${reason}`.trim();
}

function asOf(madeAt: number, nowMs: number, detail: Detail): string {
  if (detail === "all") return `${minute(madeAt)}, ${age(madeAt, nowMs)}`;
  return isFuture(madeAt, nowMs) ? "in the future" : age(madeAt, nowMs);
}

/** Of a command its name: `check`. */
function runningFor({ run_id: runId }: NonNullable<Status["lease"]>, nowMs: number): string {
  const sinceMs = runInstant(runId);
  return sinceMs === undefined ? (runId.split("-", 1)[0] ?? runId) : durationText(nowMs - sinceMs);
}

/** From when the data of a publication are, in milliseconds since the Unix epoch. */
export function madeAtMs({ snapshot_id, published_at }: Publication): number {
  return runInstant(snapshot_id) ?? Date.parse(published_at);
}

/** @param head the snapshot that readers see now; null for none */
export function describeHeld(
  { snapshotId, preview, isPinned }: Held,
  head: string | null,
  style: Style,
): readonly string[] {
  const { accept, diff } = heldCommands(snapshotId, style);
  return [
    ...(preview ? [wouldDo(preview, head), ...firstOfEach(preview)] : []),
    `look at it: ${diff}`,
    `publish it anyway: ${accept}`,
    `or wait: readers keep what they see. ${ifNotAccepted(isPinned)} This one is retired after 30 days.`,
  ];
}

function firstOfEach(preview: Preview): readonly string[] {
  const { added, changed, removed, uuids } = preview;
  return [
    ...first("added", added ?? 0, uuids.added),
    ...first("changed", changed ?? 0, uuids.changed),
    ...first("removed", removed ?? 0, uuids.removed),
    ...missingByReason(preview).flatMap(({ what, count, reason }) =>
      first(`missing because ${what}`, count, reason ? uuids[reason] : []),
    ),
  ];
}

/** `publishing it would add 5, change 8 and remove 412 events, compared with …`. */
export function wouldDo(
  { base_snapshot_id: base, added, changed, removed }: Preview,
  head: string | null,
): string {
  if (added === null || changed === null || removed === null)
    return "what publishing it would change is not known, because a file is damaged (check --deep names it)";
  const what = `publishing it would ${changesText({ added, changed, removed })}`;
  if (base === null) return `${what}; nothing was published before`;
  if (base === head) return `${what}, compared with ${base}, which readers see`;
  return `${what}, compared with ${base}, which readers saw then; diff compares it with what they see now`;
}

/** `removed, the first 10 of 412: …`. */
function first(what: string, all: number, uuids: readonly string[]): readonly string[] {
  if (all === 0) return [];
  const some =
    all > uuids.length && uuids.length > 0
      ? `the first ${uuids.length} of ${countText(all)}`
      : countText(all);
  return [[`  ${what}, ${some}`, ...(uuids.length === 0 ? [] : [uuids.join(", ")])].join(": ")];
}

interface HeldJson extends Held {
  readonly reason: string | null;
  readonly explanation: string;
}

/** `preview` is null where an earlier version has held it. */
export function heldJson(
  { snapshotId, reason, explanation, preview, isPinned }: HeldJson,
  style: Style,
): object {
  const { accept, diff } = heldCommands(snapshotId, style);
  return {
    snapshot_id: snapshotId,
    reason,
    explanation,
    preview: preview ?? null,
    accept_command: accept,
    diff_command: diff,
    wait: ifNotAccepted(isPinned),
  };
}
