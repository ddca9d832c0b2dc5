// Where `--credentials` says the account's credentials are: in a file, in AWS Secrets Manager, or on standard input.

import { realpath, rm } from "node:fs/promises";
import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import {
  FileCredentials,
  inputCredentials,
  warnIfOthersMayRead,
} from "../../../lambdas/job/credentials/file-credentials.ts";
import { FileTokenStore } from "../../../lambdas/job/credentials/tokens/file-token-store.ts";
import type { TokenStore } from "../../../lambdas/job/credentials/tokens/token-store.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { STANDARD_INPUT, secretIdOf } from "../../../lambdas/job/settings-file/places.ts";
import type { OptionValues } from "../options/options.ts";
import type { CommandContext } from "./command.ts";

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
    "It is not known where to store the tokens, because the credentials are not in a file. Give --tokens FILE or --tokens secretsmanager:NAME, or set BRAND_TOKENS.",
    { fields: { setting: "tokens" } },
  );
}

/** An empty file beside credentials that `init` has written, until a check or a run has worked with them. */
export const uncheckedMark = (credentials: string): string => `${credentials}.unchecked`;

/** @param credentials as `--credentials` has it; only a file has a mark */
export async function credentialsWork(credentials: string): Promise<void> {
  await rm(uncheckedMark(credentials), { force: true }).catch(() => undefined);
}
