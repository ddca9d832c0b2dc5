// `status`: what readers see, who works on it, what is held, what the last runs did.

import { type Status, status } from "../../lambdas/run/status.ts";
import type { SyncRun } from "../../lambdas/run/sync-run.ts";
import { type CommandSpec, printJson } from "./command.ts";
import { openWarehouse } from "./compose.ts";
import { EXIT } from "./exit-code.ts";
import { count, duration } from "./progress-text.ts";
import { systemClock } from "./system-clock.ts";

const OPTIONS = ["account", "warehouse", "json"] as const;

export const statusCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "status",
  summary: "show what readers see, what is held and what the last runs did",
  options: OPTIONS,
  example: "npm run sync -- status --account uk",
  execute: async (values, output) => {
    const now = systemClock.now();
    const found = await status(openWarehouse(values.warehouse).store, values.account, now);
    if (values.json) printJson(output, found);
    else output.stdout.write(`${describe(found, now).join("\n")}\n`);
    return EXIT.done;
  },
};

function describe({ account, head, lease, held, runs }: Status, nowMs: number): readonly string[] {
  const lines = [`account ${account}`];
  if (head === null) lines.push("  no snapshot is published yet");
  else {
    const age = duration(Math.max(0, nowMs - Date.parse(head.published_at)));
    lines.push(
      `  readers see ${count(head.events)} events of snapshot ${head.snapshot_id}, published ${age} ago (publication ${Number(head.publication)})`,
      `  it brought ${changes(head)}`,
    );
  }
  lines.push(lease ? `  the run ${lease.run_id} works on it now` : "  no run works on it now");
  if (held.length > 0) lines.push(`  held, in no table: ${held.join(", ")}`);
  if (runs.length > 0)
    lines.push("last attempts, newest first", ...runs.map((row) => `  ${describeRun(row)}`));
  return lines;
}

function describeRun(row: SyncRun): string {
  const why = [row.reason, row.error_code].filter((part) => part !== null).join(" ");
  const what = row.added === null ? why : `${count(row.events ?? 0)} events, ${changes(row)}`;
  return `${row.started_at}  ${row.outcome.padEnd(10)}  ${duration(row.seconds * 1000).padStart(6)}  ${what}`;
}

function changes(of: {
  readonly added: number | null;
  readonly changed: number | null;
  readonly removed: number | null;
}): string {
  return `${count(of.added ?? 0)} added, ${count(of.changed ?? 0)} changed, ${count(of.removed ?? 0)} removed`;
}
