// Which accounts a command shows that may be given none.

import { resolve } from "node:path";
import { knownAccounts } from "../../../lambdas/job/storage/known-accounts.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import type { OptionValues } from "../options/options.ts";
import type { CommandContext } from "../wiring/command-context.ts";
import { missingWarehouse } from "../wiring/refuse-missing-warehouse.ts";

/**
 * Those of the warehouse, and those of the settings file, which may never have run; sorted. Throws `CONFIG_INVALID`
 * where there are none.
 */
export async function warehouseAccounts(
  store: Store,
  { config, warehouse }: OptionValues<"config" | "warehouse">,
  { cwd }: Pick<CommandContext, "cwd">,
): Promise<readonly string[]> {
  const accounts = new Set([...(await knownAccounts(store)), ...(config?.accounts ?? [])]);
  if (accounts.size === 0) throw missingWarehouse(isS3(warehouse) ? warehouse : resolve(cwd, warehouse));
  return [...accounts].sort();
}
