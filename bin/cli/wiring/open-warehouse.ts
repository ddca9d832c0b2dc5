// Where `--warehouse` says the snapshots are: in a directory, or in S3 with tables in Glue.

import { resolve } from "node:path";
import { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { systemRandom } from "../../../lambdas/job/runtime/system-random.ts";
import type { DamagedAccount } from "../../../lambdas/job/storage/damaged-account.ts";
import { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import type { WAREHOUSE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";
import type { Terminal } from "../output/terminal.ts";
import type { CommandContext } from "./command-context.ts";
import type { Warehouse } from "./warehouse.ts";

/** The AWS clients load only for a warehouse in S3. A relative path starts from `cwd`. */
export async function openWarehouse(
  { warehouse, database }: OptionValues<(typeof WAREHOUSE_OPTIONS)[number]>,
  { cwd, proxies, stderr }: Pick<CommandContext, "cwd" | "proxies" | "stderr">,
): Promise<Warehouse> {
  if (isS3(warehouse)) {
    const { openS3Warehouse } = await import("./s3-warehouse.ts");
    return openS3Warehouse(warehouse, database, proxies);
  }
  const { store, views } = openDirectory(resolve(cwd, warehouse), stderr);
  return { store, catalog: views, directory: store };
}

/** `directory` is absolute. An account that is damaged does not end a command of another one, and is named. */
export function openDirectory(
  directory: string,
  stderr: Terminal,
): { readonly store: DirectoryStore; readonly views: DuckdbCatalog } {
  const store = new DirectoryStore({ directory, random: systemRandom });
  const onDamage = (damaged: DamagedAccount): void => stderr.message(damagedAccountText(damaged));
  return { store, views: new DuckdbCatalog({ store, directory, onDamage }) };
}

/** Of an account that the command was not asked for. */
export function damagedAccountText({ account, damage }: DamagedAccount): string {
  return `warning: the account ${account} cannot be read, and its tables no longer follow it: ${damage.message}`;
}
