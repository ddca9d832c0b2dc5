// Where `--warehouse` says the snapshots are: in a directory, or in S3 with tables in Glue.

import { resolve } from "node:path";
import { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { type ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { systemRandom } from "../../../lambdas/job/runtime/random.ts";
import { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import { type DamagedAccount, knownAccounts } from "../../../lambdas/job/storage/known-accounts.ts";
import { runInstant } from "../../../lambdas/job/storage/layout.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { type AccountStore, deletable, type Store } from "../../../lambdas/job/storage/store.ts";
import type { WAREHOUSE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";
import type { Terminal } from "../output/terminal.ts";
import type { CommandContext, Warehouse } from "./command-context.ts";

/** The AWS clients load only for a warehouse in S3. A relative path starts from `cwd`. */
export async function openWarehouse(
  { warehouse, database }: OptionValues<(typeof WAREHOUSE_OPTIONS)[number]>,
  { cwd, proxies, stderr }: Pick<CommandContext, "cwd" | "proxies" | "stderr">,
): Promise<Warehouse> {
  if (isS3(warehouse)) {
    const { openS3Warehouse } = await import("./aws-adapters.ts");
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
  return `warning: the account ${account} cannot be read, and its tables stay as they were: ${damage.message}`;
}

/** Throws `code` where no run was ever started: only a run makes a warehouse. */
export async function refuseMissingWarehouse(
  store: Store,
  place: Place,
  cwd: string,
  code: ErrorCode = "CONFIG_INVALID",
): Promise<void> {
  if ((await knownAccounts(store)).length === 0) throw missingWarehouse(place, cwd, code);
}

type Place = OptionValues<"warehouse">;

export function missingWarehouse(
  { warehouse }: Place,
  cwd: string,
  code: ErrorCode = "CONFIG_INVALID",
): SyncError {
  return new SyncError(
    code,
    `There is no warehouse at ${isS3(warehouse) ? warehouse : resolve(cwd, warehouse)}. Check --warehouse, or make the first snapshot with run.`,
  );
}

/** Throws `CONFIG_INVALID` where the warehouse has other accounts but not this one. */
export async function refuseUnknownAccount(store: AccountStore): Promise<void> {
  const known = await knownAccounts(store);
  if (known.length === 0 || known.includes(store.account)) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `The warehouse has no account ${store.account}. Its accounts are: ${known.join(", ")}. Check --account and --warehouse.`,
  );
}

/** Deletes what runs staged more than 14 days ago. In a bucket a lifecycle rule does it. */
const RUN_FILES_KEPT_MS = 14 * 24 * 60 * 60 * 1000;

/** Nothing can be resumed after that time, and no table reads these files. */
export async function expireRuns(
  store: AccountStore,
  nowMs: number,
  logger: Pick<Logger, "warn">,
): Promise<void> {
  const mayDelete = deletable(logger);
  const prefix = store.keys.runs;
  for await (const file of store.list(prefix)) {
    const startedAtMs = runInstant(file.key.slice(prefix.length).split("/")[0] ?? "");
    // Keys come in the order of the instants, so the first that is young ends the search.
    if (startedAtMs !== undefined && startedAtMs >= nowMs - RUN_FILES_KEPT_MS) return;
    if (startedAtMs !== undefined && mayDelete(file)) await store.delete(file.key);
  }
}
