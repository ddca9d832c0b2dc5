// From a settings file, or what cdk.json says, to settings, or to a message that names every wrong key.

import { readFileSync } from "node:fs";
import type { z } from "zod";
import { SyncError } from "../errors/sync-error.ts";
import { plainEnglish, problemsOf } from "../settings/setting-problem.ts";
import { isErrno } from "../storage/directory/file-error.ts";
import { jsonPlaces } from "./json-places.ts";

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

/**
 * What stands in the file, undefined if there is none. Throws `CONFIG_INVALID` if it is not readable as JSON, or has a
 * key twice: which of the two is meant, the file does not say.
 * @param title of the file, for messages
 */
export function readSettingsFile(path: string, title: string): unknown {
  // Some editors begin a file with a byte order mark.
  const text = readText(path)?.replace(/^\uFEFF/, "");
  if (text === undefined) return undefined;
  const { repeated, wrongAt } = jsonPlaces(text);
  if (wrongAt !== undefined) {
    const [line, column] = wrongAt.split(":");
    throw invalid(`The settings file ${path} is not valid JSON at line ${line}, column ${column}.`);
  }
  if (repeated.length === 0) return JSON.parse(text);
  const source = { title, keyPath: [] };
  throw unusableSettings(
    source,
    repeated.map(
      ({ path: key, places }) =>
        `${keyIn(source, key)}: expected once, and got twice, at ${places.join(" and ")} (line:column)`,
    ),
  );
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw invalid(`The settings file ${path} cannot be read (${code}).`);
  }
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", problem);
}
