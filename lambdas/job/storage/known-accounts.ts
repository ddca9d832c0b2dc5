// The accounts that a warehouse has anything of: publications, run logs or a lease. One that was removed has none of
// them, but for the entry of the log and the lines of runs that the removal has ended.

import { isDamage, type SyncError, undefinedIfDamaged } from "../errors/sync-error.ts";
import { FOLDERS, isOfLayout } from "./layout.ts";
import { readEnd } from "./publication-log.ts";
import { type AccountStore, accountStore, type Store } from "./store.ts";

const OF_AN_ACCOUNT = [FOLDERS.accounts, FOLDERS.publications, FOLDERS.runLogs];

/** Sorted. An account whose every run failed is among them. */
export async function knownAccounts(store: Store): Promise<readonly string[]> {
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
  const living = await Array.fromAsync([...found].sort(), async (account) =>
    (await isRemoved(accountStore(store, account))) ? [] : [account],
  );
  return living.flat();
}

/** Reads the log only where there is no lease: every start makes one, and a removal deletes it last. */
async function isRemoved(store: AccountStore): Promise<boolean> {
  for await (const _ of store.list(`${FOLDERS.accounts}${store.account}/`)) return false;
  const end = await readEnd(store).catch(undefinedIfDamaged);
  if (end?.removal === undefined) return false;
  const runLogs = store.keys.runLogs;
  for await (const _ of store.list(runLogs, `${runLogs}${end.removal.run_id}.`)) return false;
  return true;
}

/** The name of the first folder in this one, after a key, that has a file of the layout. */
async function firstFolder(store: Store, folder: string, after: string): Promise<string | undefined> {
  for await (const { key } of store.list(folder, after)) {
    if (isOfLayout(key)) return key.slice(folder.length).split("/", 1)[0];
  }
  return undefined;
}

/** An account that cannot be read, because a file of it is damaged. */
export interface DamagedAccount {
  readonly account: string;
  readonly damage: SyncError;
}

/** What `read` finds, or the damage that it meets. Throws every other error of `read`. */
export async function orDamage<T>(account: string, read: () => Promise<T>): Promise<T | DamagedAccount> {
  try {
    return await read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { account, damage: error };
  }
}
