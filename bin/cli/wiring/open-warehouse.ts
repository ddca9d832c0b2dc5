// Where `--warehouse` says the snapshots are: in a directory, or in S3 with tables in Glue.

import { realpath, rm } from "node:fs/promises";
import { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import {
  FileCredentials,
  inputCredentials,
  warnIfOthersMayRead,
} from "../../../lambdas/job/credentials/file-credentials.ts";
import { FileTokenStore } from "../../../lambdas/job/credentials/tokens/file-token-store.ts";
import type { TokenStore } from "../../../lambdas/job/credentials/tokens/token-store.ts";
import { advise, setting } from "../../../lambdas/job/errors/advice.ts";
import { type ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { STANDARD_INPUT, secretIdOf } from "../../../lambdas/job/settings-file/places.ts";
import { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import { type DamagedAccount, knownAccounts } from "../../../lambdas/job/storage/known-accounts.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import type { AccountStore, Store } from "../../../lambdas/job/storage/store.ts";
import { ANY_SHELL, sayError } from "../../../lambdas/words/style.ts";
import type { OptionValues, WAREHOUSE_OPTIONS } from "../options/options.ts";
import type { Terminal } from "../output/terminal.ts";
import type { CommandContext, Warehouse } from "./command.ts";

/** The AWS clients load only for a warehouse in S3. */
export async function openWarehouse(
  { warehouse, database }: OptionValues<(typeof WAREHOUSE_OPTIONS)[number]>,
  { proxies, stderr }: Pick<CommandContext, "proxies" | "stderr">,
): Promise<Warehouse> {
  if (isS3(warehouse)) {
    const { openS3Warehouse } = await import("./aws-adapters.ts");
    return openS3Warehouse(warehouse, database, proxies);
  }
  const { store, views } = openDirectory(warehouse, stderr);
  return { store, catalog: views, directory: store };
}

interface LocalWarehouse {
  readonly store: DirectoryStore;
  readonly views: DuckdbCatalog;
}

/** For a command that works on this computer alone. Throws `CONFIG_INVALID`, with `inS3` for a warehouse there. */
export async function openLocalWarehouse(
  values: Place,
  { stderr }: Pick<CommandContext, "stderr">,
  inS3: string,
): Promise<LocalWarehouse> {
  if (isS3(values.warehouse)) throw new SyncError("CONFIG_INVALID", inS3);
  const opened = openDirectory(values.warehouse, stderr);
  await refuseMissingWarehouse(opened.store, values);
  return opened;
}

/** An account that is damaged does not end a command of another one, and is named. */
function openDirectory(directory: string, stderr: Terminal): LocalWarehouse {
  const store = new DirectoryStore({ directory, random: systemRandom });
  const onDamage = (damaged: DamagedAccount): void => stderr.message(damagedAccountText(damaged));
  return { store, views: new DuckdbCatalog({ store, directory, onDamage }) };
}

/** The message about an account that the command was not asked for. */
export function damagedAccountText({ account, damage }: DamagedAccount): string {
  return `warning: the account ${account} cannot be read, and its tables show nothing new: ${sayError(damage, ANY_SHELL)}`;
}

/** Throws `code` where no run was ever started: only a run makes a warehouse. */
export async function refuseMissingWarehouse(
  store: Store,
  place: Place,
  code: ErrorCode = "CONFIG_INVALID",
): Promise<void> {
  if ((await knownAccounts(store)).length === 0) throw missingWarehouse(place, code);
}

type Place = OptionValues<"warehouse">;

function missingWarehouse({ warehouse }: Place, code: ErrorCode = "CONFIG_INVALID"): SyncError {
  return new SyncError(code, `There is no warehouse at ${warehouse}.`, {
    next: advise`Check ${setting("warehouse")}, or make the first snapshot with run.`,
  });
}

/** Throws `CONFIG_INVALID` where the warehouse has other accounts but not this one. */
export async function refuseUnknownAccount(store: AccountStore): Promise<void> {
  const known = await knownAccounts(store);
  if (known.length === 0 || known.includes(store.account)) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `The warehouse has no account ${store.account}. Its accounts are: ${known.join(", ")}.`,
    { next: advise`Check the name of the account and ${setting("warehouse")}.` },
  );
}

/**
 * The accounts of the warehouse, and those of the settings file, which may never have run; sorted. Throws `CONFIG_INVALID`
 * where there are none.
 */
export async function warehouseAccounts(
  store: Store,
  { config, warehouse }: OptionValues<"config" | "warehouse">,
): Promise<readonly string[]> {
  const accounts = new Set([...(await knownAccounts(store)), ...(config?.accounts ?? [])]);
  if (accounts.size === 0) throw missingWarehouse({ warehouse });
  return [...accounts].sort();
}

/** Reads nothing yet. The AWS clients load only for a secret. */
export async function openCredentials(
  place: string,
  { proxies, stdin, signal }: Pick<CommandContext, "proxies" | "stdin" | "signal">,
  logger: Logger,
): Promise<Credentials> {
  if (place === STANDARD_INPUT) return inputCredentials({ input: stdin(), signal });
  const secretId = secretIdOf(place);
  if (secretId === undefined) return new FileCredentials(place, logger);
  const { secretCredentials } = await import("./aws-adapters.ts");
  return secretCredentials(secretId, proxies);
}

/**
 * Reads no tokens yet. Throws `CONFIG_INVALID` where neither a place nor a credentials file is named.
 * @param logger where a warning goes that others may read them; without one there is none
 */
export async function openTokens(
  { credentials, tokens }: OptionValues<"credentials" | "tokens">,
  { proxies }: Pick<CommandContext, "proxies">,
  logger?: Pick<Logger, "warn">,
): Promise<TokenStore> {
  const place = tokens ?? besideCredentials(credentials);
  const secretId = secretIdOf(place);
  if (secretId !== undefined) {
    const { secretTokens } = await import("./aws-adapters.ts");
    return secretTokens(secretId, proxies);
  }
  if (logger) await warnIfOthersMayRead(place, logger);
  // A renewal replaces the file, and must not replace a link to it.
  return new FileTokenStore({ file: await realpath(place).catch(() => place) });
}

/** `credentials/uk.json` → `credentials/uk.tokens.json`. */
function besideCredentials(credentials: string): string {
  const isFile = credentials !== STANDARD_INPUT && secretIdOf(credentials) === undefined;
  if (isFile) return `${credentials.replace(/\.json$/, "")}.tokens.json`;
  throw new SyncError(
    "CONFIG_INVALID",
    "It is not known where to store the tokens, because the credentials are not in a file.",
    {
      fields: { setting: "tokens" },
      next: advise`Give ${setting("tokens", "FILE")} or ${setting("tokens", "secretsmanager:NAME")}, or set BRAND_TOKENS.`,
    },
  );
}

/** An empty file beside credentials that `init` has written, until a check or a run has worked with them. */
export const uncheckedMark = (credentials: string): string => `${credentials}.unchecked`;

/** @param credentials as `--credentials` has it; only a file has a mark */
export async function credentialsWork(credentials: string): Promise<void> {
  await rm(uncheckedMark(credentials), { force: true }).catch(() => undefined);
}
