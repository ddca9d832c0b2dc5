// The columns that say what went wrong.

import { SyncError } from "../../errors/sync-error.ts";
import type { RunLogEntry } from "./run-log.ts";

/** The message of an error that is not ours may quote data, so only its kind is written. */
export function errorColumns(error: unknown): Pick<RunLogEntry, "error_code" | "error_message"> {
  if (error instanceof SyncError) return { error_code: error.code, error_message: error.message };
  const kind = error instanceof Error ? error.name : typeof error;
  return {
    error_code: null,
    error_message: `Unexpected error (${kind}). This is a defect: please report it.`,
  };
}
