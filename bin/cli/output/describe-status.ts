// An account in words: what readers see, which run is active, and what is held: what publishing it would do, which events
// that concerns, and the commands to paste.

import type { AccountStatus, Status } from "../../../lambdas/job/commands/status.ts";
import { RETRYABLE_CODES } from "../../../lambdas/job/errors/sync-error.ts";
import { nameOfExecution } from "../../../lambdas/job/run/hand-over/executions.ts";
import type { Held, HeldSnapshot } from "../../../lambdas/job/run/publish/held-snapshots.ts";
import { type HeldCommands, ifNotAccepted, type Preview } from "../../../lambdas/job/run/record/held-mark.ts";
import { isRun, type RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { changesText, countText, missingByReason } from "../../../lambdas/job/run/record/texts.ts";
import { runInstant } from "../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../lambdas/job/storage/publication.ts";
import { type OptionValues, PLACE_OPTIONS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import {
  messageBefore,
  type NextValues,
  nextAfterFailure,
  nextAfterSkip,
  skippedBecause,
} from "./next-command.ts";
import type { TableRows } from "./table.ts";
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

/** Why an attempt ended as it did, in a word or two. */
export function reasonOf({ reason, error_code }: RunLogEntry): string {
  return [reason, error_code].filter((part) => part !== null).join(" ");
}

/** The newest run that failed or was skipped, since a snapshot was last published or held. */
export function troubleOf(runs: readonly RunLogEntry[]): RunLogEntry | undefined {
  const telling = runs.find(
    ({ outcome, trigger }) =>
      outcome === "PUBLISHED" ||
      outcome === "HELD" ||
      (isRun(trigger) && (outcome === "FAILED" || outcome === "SKIPPED")),
  );
  return telling?.outcome === "FAILED" || telling?.outcome === "SKIPPED" ? telling : undefined;
}

/** `FAILED LOGIN_REFUSED at 2026-11-21 06:00 UTC: … To find the cause: … check`. */
export function describeTrouble(row: RunLogEntry, values: NextValues): string {
  const { outcome, reason, error_code: code, error_message: message, started_at } = row;
  const isUnfinished = RETRYABLE_CODES.some((each) => each === code);
  const next =
    outcome === "FAILED" ? nextAfterFailure(code, isUnfinished, values) : nextAfterSkip(reason, values);
  const said = messageBefore(next, message ?? skippedBecause(reason), values);
  return [
    [outcome, reasonOf(row), `at ${minute(Date.parse(started_at))}:`].filter((part) => part !== "").join(" "),
    ...(said === "" ? [] : [said]),
    next.join(": "),
  ].join(" ");
}

/** What it came to: `12 events: 12 added, 0 changed, 0 removed`. */
export function cameTo(row: RunLogEntry): string {
  const events = row.events === null ? "" : plural(row.events, "event");
  const what = row.added === null || row.outcome === "FAILED" ? reasonOf(row) : changeCounts(row);
  return [events, what].filter((part) => part !== "").join(": ") + repeatedEntries(row);
}

const COLUMNS = ["account", "readers see", "as of", "last outcome", "held", "running"] as const;

/** All accounts of a warehouse, a line each. */
export function statusTable(found: readonly AccountStatus[], nowMs: number): TableRows {
  return { columns: COLUMNS, rows: found.map((one) => rowOf(one, nowMs)) };
}

function rowOf(one: AccountStatus, nowMs: number): readonly string[] {
  if ("damage" in one) return [one.account, `unknown: ${one.damage.code}`, "", "", "", ""];
  const { account, head, lease, runs } = one;
  // A verification says nothing of the runs.
  const last = runs.find(({ trigger }) => trigger !== "verify");
  const held = publishableOf(one).length;
  const isUnknown = head === null && lease === null && last === undefined;
  return [
    account,
    head === null ? "nothing" : `${plural(head.events, "event")}${head.pinned ? ", pinned" : ""}`,
    head === null ? "" : `${minute(madeAtMs(head))}, ${age(madeAtMs(head), nowMs)}`,
    last === undefined ? (isUnknown ? "never ran" : "") : `${last.outcome} ${reasonOf(last)}`.trim(),
    held === 0 ? "" : String(held),
    lease === null ? "" : running(lease),
  ];
}

/** From when the data of a publication are, in milliseconds since the Unix epoch. */
export function madeAtMs({ snapshot_id, published_at }: Publication): number {
  return runInstant(snapshot_id) ?? Date.parse(published_at);
}

/** @param head the snapshot that readers see now; null for none */
export function describeHeld(
  { snapshotId, preview, isPinned }: Held,
  head: string | null,
  values: PlaceValues,
): readonly string[] {
  const { accept, diff } = heldCommands(snapshotId, values);
  return [
    ...(preview ? [wouldDo(preview, head)] : []),
    ...(preview ? firstOfEach(preview) : []),
    `look at it: ${diff}`,
    `publish it anyway: ${accept}`,
    `or wait: ${ifNotAccepted(isPinned)}`,
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
  values: PlaceValues,
): object {
  const { accept, diff } = heldCommands(snapshotId, values);
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

/** Where a snapshot is. */
type PlaceValues = OptionValues<(typeof PLACE_OPTIONS)[number]>;

/** The commands that decide on a held snapshot, ready to paste. */
export function heldCommands(snapshotId: string, values: PlaceValues): HeldCommands {
  const command = (name: string): string => commandLineText([name, snapshotId], PLACE_OPTIONS, values);
  return { accept: command("accept"), diff: command("diff") };
}
