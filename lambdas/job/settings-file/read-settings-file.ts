// A settings file on disk, as JSON.

import { readFileSync } from "node:fs";
import { SyncError } from "../errors/sync-error.ts";
import { isErrno } from "../storage/directory/file-error.ts";

/** What stands in the file, undefined if there is none. Throws `CONFIG_INVALID` if it is not readable as JSON. */
export function readSettingsFile(path: string): unknown {
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    // Some editors begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw invalid(`The settings file ${path} is not JSON${placeOf(error)}.`);
  }
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

/** Of the parser's message only the place: the rest may quote the file. */
function placeOf(error: unknown): string {
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(String(error)) ?? [];
  return line === undefined ? "" : ` from line ${line}, column ${column}`;
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", problem);
}
