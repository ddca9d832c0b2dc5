// The remedy for a damaged head that no backup restores.

import { isDamage } from "../../errors/is-damage.ts";
import { SyncError } from "../../errors/sync-error.ts";

/** Adds to an error about a damaged file how to publish over it; any other error is returned as it is. */
export function addDamagedHeadRemedy(error: unknown, account: string): unknown {
  if (!isDamage(error)) return error;
  return new SyncError(error.code, `${error.message} ${damagedHeadRemedy(account)}`, {
    fields: error.fields,
    cause: error.cause,
  });
}

/** Names no whole command: where the warehouse and the service are is known to the caller only. */
export function damagedHeadRemedy(account: string): string {
  return `Or publish over it: start a run with --over-damaged (in AWS {"account": "${account}", "overDamaged": true}). It makes a new snapshot and compares it with the newest undamaged one; accept and rollback take --over-damaged as well.`;
}
