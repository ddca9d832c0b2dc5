// One account in words: what readers see, which run is active, what is held and why, what the last runs did.

import type { HeldSnapshot } from "../../../lambdas/job/run/compare/held-snapshots.ts";
import { nameOfExecution } from "../../../lambdas/job/run/hand-over/executions.ts";
import { durationText } from "../../../lambdas/job/run/record/duration-text.ts";
import { isRun, type RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import type { AccountStatus, Status } from "../../../lambdas/job/run/status.ts";
import { describeFieldChanges } from "../../../lambdas/job/snapshot/fields/field-changes.ts";
import { runInstant } from "../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../lambdas/job/storage/publication-log.ts";
import type { PLACE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";
import { describeEarlierHeld, describeHeld } from "./describe-held.ts";
import { age, minute } from "./minute.ts";
import { changeCounts, plural, repeatedEntries, throttledText } from "./progress-text.ts";
import type { TableRows } from "./table.ts";
import { whereText } from "./where.ts";

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

/** `values` say where the account is, in words and for the commands to paste. */
export function describeStatus(
  found: Status,
  nowMs: number,
  values: OptionValues<(typeof PLACE_OPTIONS)[number] | "requestsPerMinute">,
): readonly string[] {
  const { account, head, lease, held, runs, fieldChanges } = found;
  const lines = [`account ${account}`, ...describeHead(head ?? undefined, nowMs)];
  lines.push(`  warehouse    ${whereText(values)}`);
  lines.push(`  running      ${lease ? running(lease) : "none"}`);
  const last = runs.find(({ trigger }) => isRun(trigger));
  if (last?.throttled) lines.push(`  last run     ${throttledText(last, values.requestsPerMinute)}`);
  const publishable = publishableOf(found);
  for (const one of publishable) {
    lines.push(`  held         ${one.snapshotId} (${one.reason}): ${one.explanation}`);
    const describe = one === publishable.at(-1) ? describeHeld : describeEarlierHeld;
    const judged = describe({ ...one, isPinned: head?.pinned === true }, head?.snapshot_id ?? null, values);
    lines.push(...judged.map((line) => `               ${line}`));
  }
  for (const line of fieldChanges ? describeFieldChanges(fieldChanges) : [])
    lines.push(`  fields       ${line}`);
  const older = held.length - publishable.length;
  if (older > 0) lines.push(`  held         ${plural(older, "snapshot")} older than what readers see`);
  if (runs.length > 0) lines.push("last runs, newest first", ...runs.map((row) => describeRun(row)));
  return lines;
}

/** The held snapshots that are later than what readers see. */
export function publishableOf({ head, held }: Pick<Status, "head" | "held">): readonly HeldSnapshot[] {
  return held.filter(({ snapshotId }) => snapshotId > (head?.snapshot_id ?? ""));
}

/** Why an attempt ended as it did, in a word or two. */
export function reasonOf({ reason, error_code }: RunLogEntry): string {
  return [reason, error_code].filter((part) => part !== null).join(" ");
}

function describeRun(row: RunLogEntry): string {
  const name = isRun(row.trigger) ? "" : ` by ${row.trigger}`;
  const events = row.events === null ? "" : plural(row.events, "event");
  const what = [events, row.added === null ? reasonOf(row) : changeCounts(row)]
    .filter((part) => part !== "")
    .join(": ");
  const took = durationText(row.seconds * 1000).padStart(7);
  return `  ${minute(Date.parse(row.started_at))}  ${row.outcome.padEnd(10)} ${took}  ${what}${repeatedEntries(row)}${name}`;
}

/** All accounts of a warehouse, a line each. */
const COLUMNS = ["account", "readers see", "as of", "last outcome", "held", "running"] as const;

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

/** Which accounts have data that are older than `--max-age` allows. */
const HOUR_MS = 60 * 60 * 1000;

/** From when the data of a publication are, in milliseconds since the Unix epoch. */
export function madeAtMs({ snapshot_id, published_at }: Publication): number {
  return runInstant(snapshot_id) ?? Date.parse(published_at);
}

/**
 * A line that names them, or undefined where there is none. Data are as old as their snapshot's id says; an account
 * without a publication is too old. A damaged account is another matter.
 */
export function tooOld(
  found: readonly AccountStatus[],
  maxAgeHours: number | undefined,
  nowMs: number,
): string | undefined {
  if (maxAgeHours === undefined) return undefined;
  const named = found.flatMap((one) => {
    if ("damage" in one) return [];
    const { account, head } = one;
    if (head === null) return [`${account} (nothing is published)`];
    const madeAt = madeAtMs(head);
    if (nowMs - madeAt <= maxAgeHours * HOUR_MS) return [];
    return [`${account} (of ${minute(madeAt)}, ${age(madeAt, nowMs)})`];
  });
  return named.length === 0 ? undefined : `older than ${maxAgeHours} h: ${named.join(", ")}`;
}
