// A typing error in `--warehouse` or `--account` must not look like data that is empty.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { FOLDERS } from "../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";

const OF_AN_ACCOUNT = [FOLDERS.accounts, FOLDERS.publications, FOLDERS.runLogs];

/** Throws `CONFIG_INVALID` where no run was ever started. `place` names the warehouse in the message. */
export async function refuseMissingWarehouse(store: Store, place: string): Promise<void> {
  if ((await knownAccounts(store)).length > 0) return;
  throw new SyncError(
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

async function knownAccounts(store: Store): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const folder of OF_AN_ACCOUNT) {
    let after = "";
    for (;;) {
      const account = await firstFolder(store, folder, after);
      if (account === undefined) break;
      found.add(account);
      // "0" is the character after "/": the next key lies in another folder.
      after = `${folder}${account}0`;
    }
  }
  return [...found].sort();
}

/** The name of the first folder in this one after a key. */
async function firstFolder(store: Store, folder: string, after: string): Promise<string | undefined> {
  for await (const { key } of store.list(folder, after)) return key.slice(folder.length).split("/", 1)[0];
  return undefined;
}
