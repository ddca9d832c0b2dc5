// Whether a login was refused: sending the same again could lock the account or only repeats the refusal.

import { type ErrorCode, SyncError } from "./sync-error.ts";

const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "LOGIN_REFUSED",
  "ACCOUNT_DISABLED",
  "AUTHORIZATION_EXPIRED",
]);

export function isRefusedLogin(error: unknown): error is SyncError {
  return error instanceof SyncError && REFUSALS.has(error.code);
}
