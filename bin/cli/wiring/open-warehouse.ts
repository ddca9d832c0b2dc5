// Where `--warehouse` says the snapshots are: in a directory, or in S3 with tables in Glue.

import { resolve } from "node:path";
import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { systemRandom } from "../../../lambdas/job/runtime/system-random.ts";
import { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import type { OptionValues } from "../options/options.ts";
import { isS3 } from "../options/s3-location.ts";

export interface Warehouse {
  readonly store: Store;
  readonly catalog: Catalog;
  /** What runs have staged goes after a time without anybody's doing, as by a bucket's lifecycle rule. */
  readonly expiresByItself: boolean;
}

/** The options that say where a warehouse is. */
export const WAREHOUSE_OPTIONS = ["warehouse", "database"] as const;

/** Who works in a directory does not wait for the clients of AWS to load. */
export async function openWarehouse({
  warehouse,
  database,
}: OptionValues<(typeof WAREHOUSE_OPTIONS)[number]>): Promise<Warehouse> {
  if (isS3(warehouse)) {
    const { openS3Warehouse } = await import("./s3-warehouse.ts");
    return openS3Warehouse(warehouse, database);
  }
  const { store, views } = openDirectory(warehouse);
  return { store, catalog: views, expiresByItself: false };
}

export function openDirectory(path: string): { readonly store: Store; readonly views: DuckdbCatalog } {
  const directory = resolve(path);
  const store = new DirectoryStore({ directory, random: systemRandom });
  return { store, views: new DuckdbCatalog({ store, directory }) };
}
