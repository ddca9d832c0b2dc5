// A file of ours that is not what we wrote: the error that names it and says what to do about it.

import { SyncError } from "../../errors/sync-error.ts";

/** For what a run can make again. */
export const MAKE_AGAIN = "Delete this file and start again.";
/** For what readers have seen and nothing can make again. */
export const RESTORE = "Restore it from a backup or an older version; nothing is guessed from it.";

/** `problem` never repeats the content. */
export function damaged(key: string, problem: string, remedy: string, cause?: unknown): SyncError {
  return new SyncError("STORE_CORRUPT", `The file ${key} is damaged: ${problem}. ${remedy}`, {
    fields: { key },
    cause,
  });
}
