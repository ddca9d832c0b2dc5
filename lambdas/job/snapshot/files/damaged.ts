// The error for a damaged file: it names the file and says what to do.

import { SyncError } from "../../errors/sync-error.ts";

/** For files that a run can make again. */
export const MAKE_AGAIN = "Delete this file and start again.";
/** For files that readers have seen and no run can make again. */
export const RESTORE = "Restore it from a backup or an older version.";

/** `problem` never repeats the content. */
export function damaged(key: string, problem: string, remedy: string, cause?: unknown): SyncError {
  return new SyncError("STORE_CORRUPT", `The file ${key} is damaged: ${problem}. ${remedy}`, {
    fields: { key },
    cause,
  });
}
