// What `--all` goes with: a settings file that says which accounts there are, and no account that is named.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { STANDARD_INPUT } from "../../../lambdas/job/settings-file/places.ts";
import { type GivenOptions, isGiven, readOptions } from "./read-options.ts";
import type { SettingsFile } from "./settings-file.ts";

/**
 * Of `--all` and `--account` one may be an option and the other a variable: the option wins. Throws `CONFIG_INVALID`
 * if both are the one or the other.
 */
export function isOneAccountMeant(given: GivenOptions, environment: NodeJS.ProcessEnv): boolean {
  const isOption = (name: "all" | "account"): boolean => given[name] !== undefined;
  if (!isGiven("account", given, environment)) return false;
  if (isOption("all") !== isOption("account")) return isOption("account");
  throw new SyncError(
    "CONFIG_INVALID",
    "--all and --account (BRAND_ALL and BRAND_ACCOUNT) exclude each other: leave one out.",
  );
}

/** Throws `CONFIG_INVALID` if the credentials of all accounts would come on standard input. */
export function refuseOneInput(given: GivenOptions, environment: NodeJS.ProcessEnv): void {
  if (readOptions(["credentials"], given, environment).credentials !== STANDARD_INPUT) return;
  throw new SyncError(
    "CONFIG_INVALID",
    "--all does not go with --credentials -, because standard input has the credentials of one account. Name each account's credentials in the settings file.",
  );
}

/** Throws `CONFIG_INVALID` without a file. */
export function allAccountsOf(file: SettingsFile | undefined): readonly string[] {
  if (file !== undefined) return file.accounts;
  throw new SyncError(
    "CONFIG_INVALID",
    "--all needs a settings file with the accounts, and there is no brand-events.json here. Write one, or name one with --config.",
  );
}
