// From the options of the command line to the settings of a run.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-ports.ts";
import type { OptionValues } from "./options.ts";

/** The options that say where a warehouse is. */
export const WAREHOUSE_OPTIONS = ["warehouse", "database"] as const;

/** The options of every command that talks to the service. */
export const SERVICE_OPTIONS = [
  "baseUrl",
  "account",
  "credentials",
  ...WAREHOUSE_OPTIONS,
  "requestsPerMinute",
  "bytesPerMinute",
  "concurrency",
  "isListed",
  "listPointer",
  "detailPointer",
  "json",
] as const;

/** The options that only a run takes. */
export const RUN_OPTIONS = ["maxDrop", "maxMissing", "resumeWithin", "retainDays", "lift"] as const;

type SettingsOptions = OptionValues<(typeof SERVICE_OPTIONS)[number]> &
  Partial<OptionValues<(typeof RUN_OPTIONS)[number]>>;

/** Throws `CONFIG_INVALID` when the base URL is missing. */
export function runSettings(values: SettingsOptions): RunSettings {
  const { account, baseUrl, isListed, listPointer, detailPointer, concurrency } = values;
  if (baseUrl === undefined) {
    throw new SyncError(
      "CONFIG_INVALID",
      "The address of the service is missing: give --base-url https://… or set BRAND_BASE_URL.",
    );
  }
  return {
    account,
    baseUrl,
    isListed,
    listPointer,
    detailPointer,
    lifted: values.lift ?? [],
    requestsPerMinute: values.requestsPerMinute,
    bytesPerMinute: values.bytesPerMinute,
    windowMs: 60_000,
    concurrency,
    maxDropPercent: values.maxDrop ?? 20,
    maxMissingPercent: values.maxMissing ?? 1,
    resumeWithinMs: (values.resumeWithin ?? 60) * 60_000,
    retainDays: values.retainDays,
    shardSize: 1_000,
  };
}
