// From the options of the command line to the settings of a run.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { type RunSettings, runSettings } from "../../../lambdas/job/run/run-settings.ts";
import { ACCOUNT_DEFAULTS, type AccountSettings } from "../../../lambdas/job/settings/account-settings.ts";
import type { OptionValues } from "./options.ts";

/** The options that say where a warehouse is. */
export const WAREHOUSE_OPTIONS = ["warehouse", "database"] as const;

/** The options that say where an account's snapshots are. */
export const PLACE_OPTIONS = ["account", ...WAREHOUSE_OPTIONS] as const;

/** The options of every command that sends requests to the service. */
export const SERVICE_OPTIONS = [
  "baseUrl",
  "account",
  "credentials",
  "authUrl",
  "tokens",
  ...WAREHOUSE_OPTIONS,
  "requestsPerMinute",
  "bytesPerMinute",
  "limitWindow",
  "concurrency",
  "isListed",
  "listPointer",
  "detailPointer",
  "logLevel",
  "json",
] as const;

/** The options that only a run takes. */
export const RUN_OPTIONS = ["maxDrop", "maxMissing", "resumeWithin", "retainDays", "lift"] as const;

/** The options that say who is told how a run ended. */
export const NOTIFY_OPTIONS = ["notifyUrl", "notifyOn"] as const;

type SettingsOptions = OptionValues<(typeof SERVICE_OPTIONS)[number]> &
  Partial<OptionValues<(typeof RUN_OPTIONS)[number]>>;

/** Throws `CONFIG_INVALID` when the base URL is missing. */
export function givenSettings(values: SettingsOptions): RunSettings {
  const { account, baseUrl, lift = [] } = values;
  if (baseUrl === undefined) {
    throw new SyncError(
      "CONFIG_INVALID",
      "The address of the service is missing: give --base-url https://… or set BRAND_BASE_URL.",
    );
  }
  const settings: AccountSettings = {
    baseUrl,
    authUrl: values.authUrl,
    requestsPerMinute: values.requestsPerMinute,
    bytesPerMinute: values.bytesPerMinute,
    limitWindowSeconds: values.limitWindow,
    concurrency: values.concurrency,
    isListed: values.isListed,
    listPointer: values.listPointer,
    detailPointer: values.detailPointer,
    maxDropPercent: values.maxDrop ?? ACCOUNT_DEFAULTS.maxDropPercent,
    maxMissingPercent: values.maxMissing ?? ACCOUNT_DEFAULTS.maxMissingPercent,
    retainDays: values.retainDays,
    resumeWithinMinutes: values.resumeWithin ?? ACCOUNT_DEFAULTS.resumeWithinMinutes,
  };
  return runSettings(settings, { account, lifted: lift });
}
