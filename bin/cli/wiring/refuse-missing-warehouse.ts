// A typing error in `--warehouse` or `--account` must not look like data that is empty.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { knownAccounts } from "../../../lambdas/job/storage/known-accounts.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";

/** Throws `CONFIG_INVALID` where no run was ever started. `place` names the warehouse in the message. */
export async function refuseMissingWarehouse(store: Store, place: string): Promise<void> {
  if ((await knownAccounts(store)).length === 0) throw missingWarehouse(place);
}

export function missingWarehouse(place: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `There is no warehouse at ${place}. Check --warehouse, or make the first snapshot with run.`,
  );
}

/** Throws `CONFIG_INVALID` where the warehouse has other accounts but not this one. */
export async function refuseUnknownAccount(store: Store, account: string): Promise<void> {
  const known = await knownAccounts(store);
  if (known.length === 0 || known.includes(account)) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `The warehouse has no account ${account}. Its accounts are: ${known.join(", ")}. Check --account and --warehouse.`,
  );
}
