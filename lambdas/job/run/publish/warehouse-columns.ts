// The lifted columns that a warehouse has already, where they come from, and their types.

import type { Catalog } from "../../catalog/catalog.ts";
import { addDamagedHeadRemedy } from "../../snapshot/files/add-damaged-head-remedy.ts";
import { liftedIn, readManifest } from "../../snapshot/files/manifest.ts";
import { eventColumns, type LiftedColumn, lastTyped } from "../../snapshot/rows/lifted-column.ts";
import { newestManifest } from "../../snapshot/rows/table-columns.ts";
import { accounts } from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";

export interface WarehouseColumn extends Pick<LiftedColumn, "name" | "type" | "typedBy"> {
  /** Empty where no snapshot says where it comes from; several where accounts differ and this one has none of its own. */
  readonly pointers: readonly string[];
}

/**
 * In the order of the tables. The account's own snapshot says where a column comes from and what its type is; for a
 * column that it lacks, the heads of the accounts do.
 * @param base the account's snapshot
 */
export async function warehouseColumns(
  { store, catalog }: { readonly store: Store; readonly catalog: Catalog },
  account: string,
  base: string | null,
): Promise<readonly WarehouseColumn[]> {
  const ofEveryRow = eventColumns([]);
  const names = (await catalog.columns()).filter((name) => !ofEveryRow.includes(name));
  if (names.length === 0) return [];
  const own = await liftedOf(store, account, base);
  const isComplete = names.every((name) => own.some((column) => column.name === name));
  const others = isComplete ? [] : await liftedByHeads(store);
  return names.map((name) => {
    const candidates = [own, others].map((columns) => columns.filter((column) => column.name === name));
    const found = candidates.find((columns) => columns.length > 0) ?? [];
    return { name, pointers: [...new Set(found.map(({ pointer }) => pointer))], ...lastTyped(found) };
  });
}

/** Of one snapshot; none where there is none. Throws `STORE_CORRUPT` with what helps. */
export async function liftedOf(
  store: Store,
  account: string,
  snapshotId: string | null,
): Promise<readonly LiftedColumn[]> {
  if (snapshotId === null) return [];
  try {
    return liftedIn(await readManifest(store, account, snapshotId));
  } catch (error) {
    throw addDamagedHeadRemedy(error, account);
  }
}

/** By what the tables have their columns from. */
async function liftedByHeads(store: Store): Promise<readonly LiftedColumn[]> {
  const found: LiftedColumn[] = [];
  for (const account of await accounts(store)) {
    const manifest = await newestManifest(store, account);
    if (manifest) found.push(...liftedIn(manifest));
  }
  return found;
}
