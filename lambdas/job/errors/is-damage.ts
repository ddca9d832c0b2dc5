// Whether an error says that a file of the warehouse is not what was written.

import { SyncError } from "./sync-error.ts";

export function isDamage(error: unknown): error is SyncError {
  return error instanceof SyncError && error.code === "STORE_CORRUPT";
}
