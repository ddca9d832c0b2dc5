// Whether an error says that a file of the warehouse is damaged.

import { SyncError } from "./sync-error.ts";

export function isDamage(error: unknown): error is SyncError {
  return error instanceof SyncError && error.code === "STORE_CORRUPT";
}
