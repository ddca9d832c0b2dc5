// The settings file that a command reads: the one that is named, or the one in the current directory.

import { resolve } from "node:path";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { placeBeside } from "../../../lambdas/job/settings-file/places.ts";
import { parseSettings, readSettingsFile } from "../../../lambdas/job/settings-file/read-settings.ts";
import { type FileSettings, fileSettingsSchema } from "../../../lambdas/job/settings-file/settings-schema.ts";

export const SETTINGS_FILE = "brand-events.json";

/** The settings that may be paths. */
const PLACES: readonly string[] = ["warehouse", "credentials", "tokens"];

export interface SettingsFile {
  /** Absolute. */
  readonly path: string;
  /** As the option or the variable has it, for messages. */
  readonly title: string;
  readonly settings: FileSettings;
  readonly accounts: readonly string[];
}

/** Throws `CONFIG_INVALID` for a file that is named and missing, and for any that is wrong. */
export function openSettingsFile(named: string | undefined, cwd: string): SettingsFile | undefined {
  const title = named ?? SETTINGS_FILE;
  const path = resolve(cwd, title);
  const given = readSettingsFile(path, title);
  if (given !== undefined) return settingsFile(given, { title, path });
  if (named === undefined) return undefined;
  throw new SyncError(
    "CONFIG_INVALID",
    `The settings file ${path} does not exist. Check --config and BRAND_CONFIG.`,
  );
}

/** @param given what stands in the file */
function settingsFile(given: unknown, { title, path }: Pick<SettingsFile, "title" | "path">): SettingsFile {
  const settings = parseSettings(fileSettingsSchema, given, { title, keyPath: [] });
  const accounts = Object.entries(settings.accounts).map(([name, own]) => [name, absolute(own, path)]);
  return {
    path,
    title,
    settings: { ...absolute(settings, path), accounts: Object.fromEntries(accounts) },
    accounts: Object.keys(settings.accounts),
  };
}

/** With paths that start from the file. */
export function absolute<Values extends object>(values: Values, file: string): Values {
  const places = Object.entries(values).filter(([key]) => PLACES.includes(key));
  const found = places.map(([key, place]) => [
    key,
    typeof place === "string" ? placeBeside(file, place) : place,
  ]);
  return { ...values, ...Object.fromEntries(found) };
}
