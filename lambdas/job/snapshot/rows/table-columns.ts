// The columns of tables over all snapshots, as the manifests have them.

import { accounts, readHead } from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";
import { addDamagedHeadRemedy } from "../files/add-damaged-head-remedy.ts";
import { type Manifest, readManifest } from "../files/manifest.ts";
import { eventColumns } from "./lifted-column.ts";

/**
 * The longest list of columns among the heads of all accounts, of equal ones the first account's; the columns
 * of every row where nothing is published. Throws `STORE_CORRUPT` for a damaged log or manifest.
 * @param without an account that does not count
 */
export async function tableColumns(store: Store, without?: string): Promise<readonly string[]> {
  let longest = eventColumns([]);
  for (const account of await accounts(store)) {
    if (account === without) continue;
    const head = await readHead(store, account);
    if (head === undefined) continue;
    const { columns } = await manifestOf(store, account, head.snapshot_id);
    if (columns.length > longest.length) longest = columns;
  }
  return longest;
}

/** Names the account, which may not be the one of this run. */
async function manifestOf(store: Store, account: string, snapshotId: string): Promise<Manifest> {
  try {
    return await readManifest(store, account, snapshotId);
  } catch (error) {
    throw addDamagedHeadRemedy(error, account);
  }
}
