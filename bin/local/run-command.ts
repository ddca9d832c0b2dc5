// `run`: makes and publishes a snapshot.

import { SyncError } from "../../lambdas/errors/sync-error.ts";
import { run } from "../../lambdas/run/run.ts";
import type { CommandSpec } from "./command.ts";
import { expireRuns } from "./expire-runs.ts";
import { failureJson, report } from "./run-result.ts";
import { RUN_OPTIONS, runSettings, SERVICE_OPTIONS } from "./run-settings.ts";
import { serviceHost } from "./service-host.ts";
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
    const { host, warehouse, credentials, display } = await serviceHost(values, settings, output);
    await credentials.read();
    if (!warehouse.expiresByItself) {
      await expireRuns(warehouse.store, settings.account, systemClock.now());
    }
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
