// The accounts that a warehouse has anything of: publications, run logs or a lease. One that was removed has none of
// them, but for the entry of the log and the lines of runs that the removal has ended. And the files of one.

import { type ErrorCode, SyncError } from "../errors/sync-error.ts";
import { FOLDERS, isOfLayout } from "./layout.ts";
import { readEnd } from "./publication-log.ts";
import { type AccountStore, accountStore, type Store } from "./store.ts";

/**
 * The accounts that have a file in the folder, or a folder there that cannot be listed; sorted. In that of the publications
 * removed ones are among them. Behind the first key of each the next one is looked for, so that it does not matter how many
 * there are.
 */
export async function accountsIn(store: Store, folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after = folder; ; ) {
    const account = await accountBehind(store, folder, after);
    if (account === undefined) return found.sort();
    found.push(account);
    after = behind(`${folder}${account}/`);
  }
}

async function accountBehind(store: Store, folder: string, after: string): Promise<string | undefined> {
  // A folder that cannot be listed is named wherever a list begins.
  for await (const { key } of store.list(folder, after))
    if (key > after && (key.endsWith("/") || isOfLayout(key)))
      return key.slice(folder.length).split("/", 1)[0];
  return undefined;
}

/** Sorts after all keys of the folder. */
const behind = (folder: string): string => `${folder}~`;

/** Sorted. An account whose every run failed is among them. */
export async function knownAccounts(store: Store): Promise<readonly string[]> {
  const folders = [FOLDERS.accounts, FOLDERS.publications, FOLDERS.runLogs];
  const found = await Promise.all(folders.map((folder) => accountsIn(store, folder)));
  const living = await Array.fromAsync([...new Set(found.flat())].sort(), async (account) =>
    (await orDamage(account, () => isThere(accountStore(store, account)))) === false ? [] : [account],
  );
  return living.flat();
}

/** Reads the log only where there is no lease: every start makes one, and a removal deletes it last. */
async function isThere(store: AccountStore): Promise<boolean> {
  for await (const _ of store.list(`${FOLDERS.accounts}${store.account}/`)) return true;
  return hasRun(store);
}

/** Whether the account has a publication, or a line of a run, that a removal has not cut off. */
export async function hasRun(store: AccountStore): Promise<boolean> {
  const { head, removal } = await readEnd(store);
  if (head) return true;
  const { runLogs } = store.keys;
  for await (const { key } of store.list(runLogs, removal && `${runLogs}${removal.run_id}.`))
    if (isOfLayout(key)) return true;
  return false;
}

/** An account that cannot be read: a file of it is damaged, or the store refuses one. It stops no other one. */
export interface DamagedAccount {
  readonly account: string;
  readonly damage: SyncError;
}

/** What `read` finds, or why the account cannot be read. Throws every other error of `read`. */
export async function orDamage<T>(account: string, read: () => Promise<T>): Promise<T | DamagedAccount> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof SyncError) || !OF_AN_ACCOUNT.has(error.code)) throw error;
    return { account, damage: error };
  }
}

const OF_AN_ACCOUNT: ReadonlySet<ErrorCode> = new Set(["STORE_CORRUPT", "STORE_FAILED"]);

/** All keys that the account has: those of the layout, and others that lie in its folders. */
export async function keysOf(
  store: AccountStore,
): Promise<{ readonly own: readonly string[]; readonly foreign: readonly string[] }> {
  const keys: string[] = [];
  for (const folder of Object.values(FOLDERS))
    for await (const { key } of store.list(`${folder}${store.account}/`)) keys.push(key);
  const { own = [], foreign = [] } = Object.groupBy(keys, (key) => (isOfLayout(key) ? "own" : "foreign"));
  return { own, foreign };
}
