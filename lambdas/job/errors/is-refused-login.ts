// Whether the service refused the credentials at login: sending them again could lock the account.

import { type ErrorCode, SyncError } from "./sync-error.ts";

const REFUSALS: ReadonlySet<ErrorCode> = new Set(["LOGIN_REFUSED", "ACCOUNT_DISABLED"]);

export function isRefusedLogin(error: unknown): error is SyncError {
  return error instanceof SyncError && REFUSALS.has(error.code);
}
