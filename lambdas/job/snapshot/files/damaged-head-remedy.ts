// The remedy for a damaged head that no backup restores.

import { isDamage } from "../../errors/is-damage.ts";
import { SyncError } from "../../errors/sync-error.ts";

/** Adds to an error about a damaged file how to publish over it; any other error is returned as it is. */
export function withDamagedHeadRemedy(error: unknown, account: string): unknown {
  if (!isDamage(error)) return error;
  return new SyncError(error.code, `${error.message} ${remedy(account)}`, {
    fields: error.fields,
    cause: error.cause,
  });
}

/** For people and their shell. */
function remedy(account: string): string {
  return `Or publish over it: npm run sync -- run --over-damaged --account ${account} (in AWS {"account": "${account}", "overDamaged": true}) makes a new snapshot and compares it with the newest undamaged one; accept and rollback take --over-damaged as well.`;
}
