// `run`: makes and publishes a snapshot.

import { SyncError } from "../../lambdas/errors/sync-error.ts";
import { run } from "../../lambdas/run/run.ts";
import type { CommandSpec } from "./command.ts";
import { composeHost } from "./compose.ts";
import { Display } from "./display.ts";
import { expireRuns } from "./expire-runs.ts";
import { openCredentials } from "./open-credentials.ts";
import { openWarehouse } from "./open-warehouse.ts";
import { failureJson, report } from "./run-result.ts";
import { RUN_OPTIONS, runSettings, SERVICE_OPTIONS } from "./run-settings.ts";
import { systemClock } from "./system-clock.ts";

const OPTIONS = [...SERVICE_OPTIONS, ...RUN_OPTIONS, "dryRun", "limit", "fresh", "overDamaged"] as const;

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
      terminal: output.stderr,
      clock: systemClock,
      requestsPerMinute: settings.requestsPerMinute,
    });
    const credentials = await openCredentials(values.credentials, display);
    await credentials.read();
    const warehouse = await openWarehouse(values);
    if (!warehouse.expiresByItself) {
      await expireRuns(warehouse.store, settings.account, systemClock.now());
    }
    const host = composeHost({
      warehouse,
      credentials,
      settings,
      logger: display,
      onProgress: (progress) => display.progress(progress),
      onWait: (wait) => display.waiting(wait),
      signal: output.signal,
    });
    const dryRun = values.dryRun ? { dryRun: { limit: values.limit } } : {};
    const result = await run(host, settings, {
      trigger: "manual",
      fresh: values.fresh,
      overDamaged: values.overDamaged,
      ...dryRun,
    }).finally(() => display.end());
    return report(output, result, values.json);
  },
  failureJson,
};
