// Brings the catalog up to the head, as every start does first, also where the head's manifest is damaged.

import type { Catalog } from "../../catalog/catalog.ts";
import { isDamage } from "../../errors/is-damage.ts";
import { readManifest } from "../../snapshot/files/manifest.ts";
import { eventColumns } from "../../snapshot/rows/lifted-column.ts";
import type { Publication } from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";
import type { RunPorts } from "../run-ports.ts";
import type { BaseOf } from "./base.ts";

/**
 * A catalog that reads manifests can neither be refreshed to a head whose manifest is damaged nor list its columns.
 * It then stays as it is until there is a new head, and the columns are those of the base.
 * @returns the catalog to work with
 */
export async function refreshCatalog(
  { store, catalog }: Pick<RunPorts, "store" | "catalog">,
  account: string,
  head: Publication | undefined,
  baseOf: BaseOf,
): Promise<Catalog> {
  const base = await baseOf(head);
  const isOver = head !== undefined && base !== head.snapshot_id;
  if (!isOver || !(await isManifestDamaged(store, account, head.snapshot_id))) {
    await catalog.refresh(account);
    return catalog;
  }
  await unlessDamaged(catalog.refresh(account), undefined);
  const columns = base === null ? eventColumns([]) : (await readManifest(store, account, base)).columns;
  return {
    refresh: (each) => catalog.refresh(each),
    columns: () => unlessDamaged(catalog.columns(), columns),
  };
}

async function isManifestDamaged(store: Store, account: string, snapshotId: string): Promise<boolean> {
  return unlessDamaged(
    readManifest(store, account, snapshotId).then(() => false),
    true,
  );
}

async function unlessDamaged<T>(work: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return otherwise;
  }
}
