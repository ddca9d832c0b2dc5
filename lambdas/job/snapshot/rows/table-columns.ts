// The columns of tables over all snapshots, and their types for readers, as the manifests have them.

import { isDamage } from "../../errors/is-damage.ts";
import { accounts, newestReadable } from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";
import { liftedIn, type Manifest, readManifest } from "../files/manifest.ts";
import type { ColumnType } from "./column-type.ts";
import { eventColumns, type LiftedColumn, lastTyped } from "./lifted-column.ts";

export interface TableColumns {
  /** Of every row, then the lifted ones. */
  readonly names: readonly string[];
  /** Of lifted columns, by name; the others are text. */
  readonly types: ReadonlyMap<string, ColumnType>;
}

/**
 * The longest list of columns among the heads of all accounts, of equal ones the first account's; the columns
 * of every row where nothing is published. A column's type is the one that was named last, by any account's run.
 */
export async function tableColumns(store: Store): Promise<TableColumns> {
  let names = eventColumns([]);
  const lifted: LiftedColumn[] = [];
  for (const account of await accounts(store)) {
    const manifest = await newestManifest(store, account);
    if (manifest === undefined) continue;
    if (manifest.columns.length > names.length) names = manifest.columns;
    lifted.push(...liftedIn(manifest));
  }
  const types = new Map<string, ColumnType>();
  for (const [name, columns] of Map.groupBy(lifted, (column) => column.name)) {
    const { type } = lastTyped(columns);
    if (type !== undefined) types.set(name, type);
  }
  return { names, types };
}

/** Of the head; where that is damaged, of the newest snapshot of which log and manifest can be read. */
export async function newestManifest(store: Store, account: string): Promise<Manifest | undefined> {
  for await (const { snapshot_id: snapshotId } of newestReadable(store, account)) {
    try {
      return await readManifest(store, account, snapshotId);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
  return undefined;
}
