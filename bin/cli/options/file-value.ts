// What a settings file says for an option.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import {
  accountInSettings,
  type FileSettings,
  type SettingsOfAccount,
} from "../../../lambdas/job/settings-file/settings-schema.ts";
import { longName, type OptionName } from "./options.ts";
import type { SettingsFile } from "./settings-file.ts";

/** The options that are keys of an account. */
export const KEYS_OF_ACCOUNT = {
  baseUrl: "baseUrl",
  credentials: "credentials",
  authUrl: "authUrl",
  tokens: "tokens",
  warehouse: "warehouse",
  requestsPerMinute: "requestsPerMinute",
  bytesPerMinute: "bytesPerMinute",
  limitWindow: "limitWindowSeconds",
  concurrency: "concurrency",
  isListed: "isListed",
  listPointer: "listPointer",
  detailPointer: "detailPointer",
  maxDrop: "maxDropPercent",
  maxGrowth: "maxGrowthPercent",
  maxMissing: "maxMissingPercent",
  require: "require",
  resumeWithin: "resumeWithinMinutes",
  retainDays: "retainDays",
  notifyUrl: "notifyUrl",
  notifyOn: "notifyOn",
} as const satisfies Partial<Record<OptionName, keyof SettingsOfAccount>>;

/** The options that are keys for all accounts. */
export const SHARED_KEYS = {
  database: "database",
  lift: "lifted",
} as const satisfies Partial<Record<OptionName, keyof FileSettings>>;

const ofAccount: ReadonlyMap<string, keyof SettingsOfAccount> = new Map(Object.entries(KEYS_OF_ACCOUNT));
const shared: ReadonlyMap<string, keyof FileSettings> = new Map(Object.entries(SHARED_KEYS));

/**
 * Undefined where the file says nothing. Throws `CONFIG_INVALID` where its accounts differ and none is chosen.
 * @param account undefined for a command that works on all of them at once
 */
export function fileValue(name: OptionName, file: SettingsFile, account: string | undefined): unknown {
  const sharedKey = shared.get(name);
  if (sharedKey !== undefined) return file.settings[sharedKey];
  const key = ofAccount.get(name);
  if (key === undefined) return undefined;
  if (account !== undefined) return accountInSettings(file.settings, account)[key];
  const [value, ...others] = new Set(
    file.accounts.map((each) => accountInSettings(file.settings, each)[key]),
  );
  if (others.length === 0) return value;
  throw new SyncError(
    "CONFIG_INVALID",
    `${file.title}: the accounts ${file.accounts.join(", ")} differ in ${key}. Give --${longName(name)}.`,
  );
}
