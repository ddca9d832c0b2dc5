// What is right of a settings file that is wrong, for those who have to be told.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { rightSettings } from "../../../lambdas/job/settings-file/read-settings.ts";
import type { FileSettings } from "../../../lambdas/job/settings-file/settings-schema.ts";
import { SETTINGS_FILE, type SettingsFile } from "./options.ts";
import { absolute } from "./read-options.ts";

/** In place of `openSettingsFile`. Undefined where no file is named, and none is there. Throws nothing. */
export function rightFile(named: string | undefined, cwd: string): SettingsFile | undefined {
  const title = named ?? SETTINGS_FILE;
  const path = resolve(cwd, title);
  const found = rightSettings(path);
  if (found === undefined && named === undefined && !existsSync(path)) return undefined;
  const { accounts = {}, ...shared } = found ?? {};
  const settings = {
    ...absolute(shared, path),
    accounts: Object.fromEntries(Object.entries(accounts).map(([name, own]) => [name, absolute(own, path)])),
  };
  return { path, title, settings: settings as FileSettings, accounts: Object.keys(accounts) };
}
