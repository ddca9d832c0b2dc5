// From what cdk.json or a settings file says to settings, or to a message that names every wrong key.

import type { z } from "zod";
import { SyncError } from "../errors/sync-error.ts";
import { plainEnglish, problemsOf } from "../settings/setting-problem.ts";

/** Where the settings stand, for messages. */
export interface SettingsSource {
  /** The file. */
  readonly title: string;
  /** The key of the settings in it; empty if they are the whole file. */
  readonly keyPath: readonly string[];
}

/** Throws `CONFIG_INVALID` naming every wrong key, what was expected and what came. */
export function parseSettings<Output>(
  schema: z.ZodType<Output>,
  given: unknown,
  source: SettingsSource,
): Output {
  const parsed = schema.safeParse(given, { error: plainEnglish });
  if (parsed.success) return parsed.data;
  throw unusableSettings(
    source,
    problemsOf(parsed.error.issues, given, (path) => keyIn(source, path)),
  );
}

/** @param problems a line for each */
export function unusableSettings({ title }: SettingsSource, problems: readonly string[]): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    [`${title}: these settings are not usable.`, ...problems.map((each) => `  ${each}`)].join("\n"),
  );
}

/** `eventSync.accounts.uk.schedule`. */
export function keyIn({ keyPath }: SettingsSource, path: readonly PropertyKey[]): string {
  const keys = [...keyPath, ...path];
  return keys.length === 0 ? "the file" : keys.map(String).join(".");
}
