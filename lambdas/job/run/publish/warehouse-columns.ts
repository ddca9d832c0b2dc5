// The lifted columns that a warehouse has already, where they come from, and their types.

import type { Catalog } from "../../catalog/catalog.ts";
import { isDamage } from "../../errors/is-damage.ts";
import { addDamagedHeadRemedy } from "../../snapshot/files/add-damaged-head-remedy.ts";
import { liftedIn, readManifest } from "../../snapshot/files/manifest.ts";
import { eventColumns, type LiftedColumn, lastTyped } from "../../snapshot/rows/lifted-column.ts";
import { accounts, readHead } from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";

export interface WarehouseColumn extends Pick<LiftedColumn, "name" | "type" | "typedBy"> {
  /** Empty where no snapshot says where it comes from; several where accounts differ and this one has none of its own. */
  readonly pointers: readonly string[];
}

/**
 * In the order of the tables. The account's own snapshot says where a column comes from and what its type is; for a
 * column that it lacks, the heads of the other accounts do.
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
  const others = isComplete ? [] : await liftedByOthers(store, account);
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

/** By the heads of the other accounts. What is damaged there is found when that account runs. */
async function liftedByOthers(store: Store, account: string): Promise<readonly LiftedColumn[]> {
  const found: LiftedColumn[] = [];
  for (const other of await accounts(store)) {
    if (other === account) continue;
    try {
      const head = await readHead(store, other);
      if (head) found.push(...liftedIn(await readManifest(store, other, head.snapshot_id)));
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
  return found;
}
