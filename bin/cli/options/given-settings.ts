// From the options of the command line to the settings of a run.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { type RunSettings, runSettings } from "../../../lambdas/job/run/run-settings.ts";
import { ACCOUNT_DEFAULTS } from "../../../lambdas/job/settings/account-defaults.ts";
import type { AccountSettings } from "../../../lambdas/job/settings/account-settings.ts";
import type { OptionValues } from "./options.ts";
import type { SettingsFile } from "./settings-file.ts";

/** The options that say where a warehouse is. */
export const WAREHOUSE_OPTIONS = ["config", "warehouse", "database"] as const;

/** The options that say where an account's snapshots are. */
export const PLACE_OPTIONS = ["account", ...WAREHOUSE_OPTIONS] as const;

/** The options that say how an account is authorized. */
export const AUTHORIZE_OPTIONS = ["config", "account", "authUrl", "credentials", "tokens"] as const;

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
export const RUN_OPTIONS = [
  "maxDrop",
  "maxGrowth",
  "maxMissing",
  "require",
  "resumeWithin",
  "retainDays",
  "lift",
] as const;

/** The options that say who is told how a run ended. */
export const NOTIFY_OPTIONS = ["notifyUrl", "notifyOn"] as const;

type SettingsOptions = OptionValues<(typeof SERVICE_OPTIONS)[number]> &
  Partial<OptionValues<(typeof RUN_OPTIONS)[number]>>;

/** Throws `CONFIG_INVALID` when the base URL is missing, or the settings file does not have the account. */
export function givenSettings(values: SettingsOptions): RunSettings {
  const { account, baseUrl, config, lift = [] } = values;
  if (config && !config.accounts.includes(account)) throw unknownAccount(account, config);
  if (baseUrl === undefined) throw missingBaseUrl(config);
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
    maxGrowthPercent: values.maxGrowth,
    maxMissingPercent: values.maxMissing ?? ACCOUNT_DEFAULTS.maxMissingPercent,
    require: values.require ?? ACCOUNT_DEFAULTS.require,
    retainDays: values.retainDays,
    resumeWithinMinutes: values.resumeWithin ?? ACCOUNT_DEFAULTS.resumeWithinMinutes,
  };
  return runSettings(settings, { account, lifted: lift });
}

/** A typing error would publish a whole snapshot under a wrong name. */
function unknownAccount(account: string, { title, accounts }: SettingsFile): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `${title} has no account ${account}. Its accounts are: ${accounts.join(", ")}. Check --account, or add it to the file.`,
  );
}

function missingBaseUrl(config: SettingsFile | undefined): SyncError {
  const inFile = config === undefined ? "" : ` Or write it into ${config.title} as baseUrl.`;
  return new SyncError(
    "CONFIG_INVALID",
    `The address of the service is missing: give --base-url https://… or set BRAND_BASE_URL.${inFile}`,
  );
}
