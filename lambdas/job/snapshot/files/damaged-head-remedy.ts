// What readers see is damaged: what to do where no backup brings it back.

import { isDamage } from "../../errors/is-damage.ts";
import { SyncError } from "../../errors/sync-error.ts";

/** The error as it came, unless it says that a file is damaged: then with the way to publish over it. */
export function withDamagedHeadRemedy(error: unknown, account: string): unknown {
  if (!isDamage(error)) return error;
  return new SyncError(error.code, `${error.message} ${remedy(account)}`, {
    fields: error.fields,
    cause: error.cause,
  });
}

/** For people and their shell. */
function remedy(account: string): string {
  return `Or publish over it: npm run sync -- run --over-damaged --account ${account} (in AWS {"account": "${account}", "overDamaged": true}) makes a new snapshot and compares it with the newest one that is whole; accept and rollback take --over-damaged as well.`;
}
