// Where `--warehouse` says the snapshots are: in a directory, or in S3 with tables in Glue.

import { resolve } from "node:path";
import { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { systemRandom } from "../../../lambdas/job/runtime/system-random.ts";
import { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import type { WAREHOUSE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";
import type { CommandContext } from "./command-context.ts";
import type { Warehouse } from "./warehouse.ts";

/** The AWS clients load only for a warehouse in S3. A relative path starts from `cwd`. */
export async function openWarehouse(
  { warehouse, database }: OptionValues<(typeof WAREHOUSE_OPTIONS)[number]>,
  { cwd, proxies }: Pick<CommandContext, "cwd" | "proxies">,
): Promise<Warehouse> {
  if (isS3(warehouse)) {
    const { openS3Warehouse } = await import("./s3-warehouse.ts");
    return openS3Warehouse(warehouse, database, proxies);
  }
  const { store, views } = openDirectory(resolve(cwd, warehouse));
  return { store, catalog: views, expiresByItself: false };
}

/** `directory` is absolute. */
export function openDirectory(directory: string): { readonly store: Store; readonly views: DuckdbCatalog } {
  const store = new DirectoryStore({ directory, random: systemRandom });
  return { store, views: new DuckdbCatalog({ store, directory }) };
}
