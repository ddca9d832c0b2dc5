// `run`: makes and publishes a snapshot.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { run } from "../../../lambdas/job/run/run.ts";
import { systemClock } from "../../../lambdas/job/runtime/system-clock.ts";
import { givenSettings, RUN_OPTIONS, SERVICE_OPTIONS } from "../options/given-settings.ts";
import { failureJson, reportRun } from "../output/run-report.ts";
import { expireRuns } from "../wiring/expire-runs.ts";
import { servicePorts } from "../wiring/service-ports.ts";
import type { CommandSpec } from "./command.ts";

const OPTIONS = [...SERVICE_OPTIONS, ...RUN_OPTIONS, "dryRun", "limit", "fresh", "overDamaged"] as const;

export const runCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "run",
  summary: "make a snapshot of all listed events and publish it",
  options: OPTIONS,
  example: "run --base-url https://service.example --account uk",
  execute: async (values, context) => {
    const settings = givenSettings(values);
    if (values.limit !== undefined && !values.dryRun) {
      throw new SyncError(
        "CONFIG_INVALID",
        "--limit goes with --dry-run only: a published snapshot is never partial.",
      );
    }
    const { ports, warehouse, credentials, display } = await servicePorts(values, settings, context);
    await credentials.read();
    if (!warehouse.expiresByItself) {
      await expireRuns(warehouse.store, settings.account, systemClock.now());
    }
    const dryRun = values.dryRun ? { dryRun: { limit: values.limit } } : {};
    const result = await run(ports, settings, {
      trigger: "manual",
      fresh: values.fresh,
      overDamaged: values.overDamaged,
      ...dryRun,
    }).finally(() => display.end());
    return reportRun(context, result, values);
  },
  failureJson,
};
