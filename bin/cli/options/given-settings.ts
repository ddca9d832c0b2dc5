// From the options of the command line to the settings of a run.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { type RunSettings, runSettings } from "../../../lambdas/job/run/run-settings.ts";
import { accountSettings } from "../../../lambdas/job/settings-file/settings-schema.ts";
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
  "limitWindowSeconds",
  "concurrency",
  "isListed",
  "listPointer",
  "detailPointer",
  "logLevel",
  "json",
] as const;

/** The options that only a run takes. */
export const RUN_OPTIONS = [
  "maxDropPercent",
  "maxGrowthPercent",
  "maxMissingPercent",
  "require",
  "resumeWithinMinutes",
  "retainDays",
  "lifted",
] as const;

/** The options that say who is told how a run ended. */
export const NOTIFY_OPTIONS = ["notifyUrl", "notifyLink", "notifyOn"] as const;

type SettingsOptions = OptionValues<(typeof SERVICE_OPTIONS)[number]> &
  Partial<OptionValues<(typeof RUN_OPTIONS)[number]>>;

/** Throws `CONFIG_INVALID` when the base URL is missing, or the settings file does not have the account. */
export function givenSettings(values: SettingsOptions): RunSettings {
  const { account, baseUrl, config, lifted = [] } = values;
  if (config && !config.accounts.includes(account)) throw unknownAccount(account, config);
  if (baseUrl === undefined) throw missingBaseUrl(config);
  const isUsed = ([key]: readonly [string, unknown]): boolean => Object.hasOwn(accountSettings.shape, key);
  const used = Object.fromEntries(Object.entries(values).filter(isUsed));
  return runSettings(accountSettings.parse(used), { account, lifted });
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
