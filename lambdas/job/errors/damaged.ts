// The error for a damaged file: it names the file and says what to do.

import { isDamage, SyncError } from "./sync-error.ts";

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

/** Adds to an error about a damaged file how to restart over it; any other error is returned as it is. */
export function addDamagedHeadRemedy(error: unknown, account: string): unknown {
  if (!isDamage(error)) return error;
  return new SyncError(error.code, `${error.message} ${damagedHeadRemedy(account)}`, {
    fields: error.fields,
    cause: error.cause,
  });
}

/** Names no whole command: where the warehouse and the service are is known to the caller only. */
export function damagedHeadRemedy(account: string): string {
  return `Or restart: start a run with --over-damaged (in AWS {"account": "${account}", "overDamaged": true}), and all events of its snapshot count as added; accept and rollback take --over-damaged as well.`;
}
