// `run`: makes and publishes a snapshot.

import { SyncError } from "../../lambdas/errors/sync-error.ts";
import type { RunResult } from "../../lambdas/run/outcome.ts";
import { run } from "../../lambdas/run/run.ts";
import { type CommandSpec, type Output, printJson } from "./command.ts";
import { composeHost, openWarehouse } from "./compose.ts";
import { Display } from "./display.ts";
import { exitCodeOfRun } from "./exit-code.ts";
import { FileCredentials } from "./file-credentials.ts";
import { count, duration, plural } from "./progress-text.ts";
import { RUN_OPTIONS, runSettings, SERVICE_OPTIONS } from "./run-settings.ts";
import { systemClock } from "./system-clock.ts";

const OPTIONS = [...SERVICE_OPTIONS, ...RUN_OPTIONS, "dryRun", "limit", "fresh"] as const;

export const runCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "run",
  summary: "make a snapshot of all listed events and publish it",
  options: OPTIONS,
  example: "npm run sync -- run --base-url https://service.example --account uk",
  execute: async (values, output) => {
    const settings = runSettings(values);
    if (values.limit !== undefined && !values.dryRun) {
      throw new SyncError(
        "CONFIG_INVALID",
        "--limit goes with --dry-run only: a published snapshot is never partial.",
      );
    }
    const display = new Display({
      stream: output.stderr,
      clock: systemClock,
      requestsPerMinute: settings.requestsPerMinute,
    });
    const credentials = new FileCredentials(values.credentials, display);
    await credentials.read();
    const host = composeHost({
      warehouse: openWarehouse(values.warehouse),
      credentials,
      settings,
      logger: display,
      onProgress: (progress) => display.progress(progress),
      onWait: (wait) => display.waiting(wait),
      signal: output.signal,
    });
    const dryRun = values.dryRun ? { dryRun: { limit: values.limit } } : {};
    const result = await run(host, settings, { trigger: "manual", fresh: values.fresh, ...dryRun }).finally(
      () => display.end(),
    );
    if (values.json) printJson(output, result.row);
    else printResult(output, result);
    if (result.error) output.stderr.write(`${result.error.code}: ${result.error.message}\n`);
    return exitCodeOfRun(result);
  },
  failureJson: (code, message) => ({ outcome: "FAILED", error_code: code, error_message: message }),
};

function printResult({ stdout }: Output, { row, explanation }: RunResult): void {
  const { outcome, events, listed, added, changed, removed } = row;
  const missing = (row.gone ?? 0) + (row.forbidden ?? 0) + (row.rejected ?? 0);
  const lines = [`${outcome}  run ${row.run_id}, ${duration(row.seconds * 1000)}`];
  if (events !== null) {
    const left = missing === 0 ? "" : `, ${count(missing)} of ${count(listed ?? 0)} listed have none`;
    lines.push(`  ${count(events)} events with details${left}`);
  }
  if (added !== null) {
    lines.push(`  ${count(added)} added, ${count(changed ?? 0)} changed, ${count(removed ?? 0)} removed`);
  }
  if (row.requests !== null) {
    lines.push(
      `  ${[plural(row.requests, "request"), plural(row.logins ?? 0, "login"), plural(row.retries ?? 0, "retry", "retries")].join(", ")}`,
    );
  }
  if (explanation !== undefined) lines.push(`  ${explanation}`);
  stdout.write(`${lines.join("\n")}\n`);
}
