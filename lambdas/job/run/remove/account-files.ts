// Everything that a warehouse holds of an account, folder by folder.

import { isDamage } from "../../errors/is-damage.ts";
import { FOLDERS, isOfLayout, layout } from "../../storage/layout.ts";
import { readLogSince } from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";

export interface AccountFiles {
  readonly publications: number;
  /** Published, held and unfinished ones. */
  readonly snapshots: number;
  readonly files: number;
  /** Not of the layout, so `remove` leaves them. */
  readonly foreign: readonly string[];
  /** A link behind which nothing is deleted. */
  readonly refusedLink: string | undefined;
}

/** The account's folder in each of the warehouse's. */
export function accountFolders(account: string): readonly string[] {
  return Object.values(FOLDERS).map((folder) => `${folder}${account}/`);
}

/** Reads only. An account without any file of the layout does not exist; the entry that says that it was removed does not count. */
export async function countFiles(store: Store, account: string): Promise<AccountFiles> {
  const snapshots = new Set<string>();
  const removal = await findRemoval(store, account);
  let publications = 0;
  let files = 0;
  const foreign: string[] = [];
  let link: string | undefined;
  for (const folder of accountFolders(account)) {
    for await (const { key, refusedLink } of store.list(folder)) {
      link ??= refusedLink;
      if (key === removal) continue;
      if (!isOfLayout(key)) {
        foreign.push(key);
        continue;
      }
      files += 1;
      if (folder === layout.publications(account)) publications += 1;
      if (folder === layout.snapshots(account))
        snapshots.add(key.slice(folder.length).split("/", 1)[0] ?? "");
    }
  }
  return { publications, snapshots: snapshots.size, files, foreign, refusedLink: link };
}

/** The key of the newest removal. A log that is damaged is removed as well. */
async function findRemoval(store: Store, account: string): Promise<string | undefined> {
  try {
    const { removal } = await readLogSince(store, account, "");
    return removal && layout.publication(account, removal.publication);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
