// The accounts that a warehouse has anything of: publications, run logs or a lease.

import { FOLDERS, isOfLayout } from "./layout.ts";
import type { Store } from "./store.ts";

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
  return [...found].sort();
}

/** The name of the first folder in this one, after a key, that has a file of the layout. */
async function firstFolder(store: Store, folder: string, after: string): Promise<string | undefined> {
  for await (const { key } of store.list(folder, after)) {
    if (isOfLayout(key)) return key.slice(folder.length).split("/", 1)[0];
  }
  return undefined;
}
