// `status`: when the data is from, which run is active, what is held and why, what the last runs did.

import { nameOfExecution } from "../../../lambdas/job/run/hand-over/execution-name.ts";
import { durationText } from "../../../lambdas/job/run/record/duration-text.ts";
import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { type HeldSnapshot, type Status, status } from "../../../lambdas/job/run/status.ts";
import { systemClock } from "../../../lambdas/job/runtime/system-clock.ts";
import { describeFieldChanges } from "../../../lambdas/job/snapshot/fields/field-changes.ts";
import type { Publication } from "../../../lambdas/job/storage/publication-log.ts";
import { runInstant } from "../../../lambdas/job/storage/run-id.ts";
import { commandLineText } from "../options/command-line-text.ts";
import { PLACE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";
import { EXIT } from "../output/exit-code.ts";
import { changeCounts, plural } from "../output/progress-text.ts";
import { openWarehouse } from "../wiring/open-warehouse.ts";
import { refuseUnknownAccount } from "../wiring/refuse-missing-warehouse.ts";
import type { CommandSpec } from "./command.ts";

const OPTIONS = [...PLACE_OPTIONS, "json"] as const;

export const statusCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "status",
  summary: "show when the data is from, what is held and what the last runs did",
  options: OPTIONS,
  example: "status --account uk",
  execute: async (values, context) => {
    const now = systemClock.now();
    const { store } = await openWarehouse(values, context);
    const found = await status(store, values.account, now);
    const { head, lease, held, runs } = found;
    if (!head && !lease && held.length + runs.length === 0) await refuseUnknownAccount(store, found.account);
    if (values.json) {
      context.stdout.json({
        account: found.account,
        head,
        lease,
        held: held.map(({ snapshotId }) => snapshotId),
        runs,
      });
    } else context.stdout.lines(describe(found, now, values));
    return EXIT.done;
  },
};

/** What readers see, from when, and whether later runs are held. */
export function describeHead(head: Publication | undefined, nowMs: number): readonly string[] {
  if (head === undefined) return ["  readers see  nothing: no snapshot is published yet"];
  const { events, snapshot_id: snapshotId, published_at, publication, action, pinned } = head;
  const madeAtMs = runInstant(snapshotId) ?? Date.parse(published_at);
  const by = action === "run" ? "" : ` by ${action}`;
  const lines = [
    `  readers see  ${plural(events, "event")} of ${minute(madeAtMs)}, ${age(madeAtMs, nowMs)} (snapshot ${snapshotId})`,
    `  published    ${minute(Date.parse(published_at))}${by}, as number ${Number(publication)}: ${changeCounts(head)}`,
  ];
  if (pinned) lines.push("  pinned       yes: later runs are held until you accept one (accept ID)");
  return lines;
}

function running({ run_id, execution }: NonNullable<Status["lease"]>): string {
  return execution === undefined ? run_id : `${run_id}, in the execution ${nameOfExecution(execution)}`;
}

function describe(
  found: Status,
  nowMs: number,
  values: OptionValues<(typeof OPTIONS)[number]>,
): readonly string[] {
  const { account, head, lease, held, runs, fieldChanges } = found;
  const lines = [`account ${account}`, ...describeHead(head ?? undefined, nowMs)];
  lines.push(`  running      ${lease ? running(lease) : "none"}`);
  const isPublishable = ({ snapshotId }: HeldSnapshot): boolean => snapshotId > (head?.snapshot_id ?? "");
  for (const { snapshotId, reason, explanation } of held.filter(isPublishable)) {
    lines.push(`  held         ${snapshotId} (${reason}): ${explanation}`);
    lines.push(
      `               publish it anyway: ${commandLineText(["accept", snapshotId], PLACE_OPTIONS, values)}`,
    );
  }
  for (const line of fieldChanges ? describeFieldChanges(fieldChanges) : [])
    lines.push(`  fields       ${line}`);
  const older = held.filter((one) => !isPublishable(one)).length;
  if (older > 0) lines.push(`  held         ${plural(older, "snapshot")} older than what readers see`);
  if (runs.length > 0) lines.push("last runs, newest first", ...runs.map((row) => describeRun(row)));
  return lines;
}

function describeRun(row: RunLogEntry): string {
  const name = row.trigger === "accept" || row.trigger === "rollback" ? ` by ${row.trigger}` : "";
  const why = [row.reason, row.error_code].filter((part) => part !== null).join(" ");
  const events = row.events === null ? "" : plural(row.events, "event");
  const what = [events, row.added === null ? why : changeCounts(row)]
    .filter((part) => part !== "")
    .join(": ");
  const took = durationText(row.seconds * 1000).padStart(7);
  return `  ${minute(Date.parse(row.started_at))}  ${row.outcome.padEnd(10)} ${took}  ${what}${name}`;
}

/** `2026-11-21 06:00 UTC`. */
function minute(instantMs: number): string {
  return `${new Date(instantMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function age(instantMs: number, nowMs: number): string {
  return instantMs > nowMs
    ? "in the future by this machine's clock"
    : `${durationText(nowMs - instantMs)} ago`;
}
