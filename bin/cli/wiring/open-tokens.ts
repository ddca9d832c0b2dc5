// Where `--tokens` says the tokens of the method oauth are: in a file, or in AWS Secrets Manager.

import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { FileTokenStore } from "../../../lambdas/job/credentials/tokens/file-token-store.ts";
import type { TokenStore } from "../../../lambdas/job/credentials/tokens/token-store.ts";
import { warnIfOthersMayRead } from "../../../lambdas/job/credentials/warn-if-others-may-read.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { STANDARD_INPUT, secretIdOf } from "../../../lambdas/job/settings-file/places.ts";
import type { OptionValues } from "../options/options.ts";
import type { CommandContext } from "./command-context.ts";

/**
 * Reads no tokens yet. Throws `CONFIG_INVALID` where neither a place nor a credentials file is named.
 * @param logger where a warning goes that others may read them; without one there is none
 */
export async function openTokens(
  { credentials, tokens }: OptionValues<"credentials" | "tokens">,
  { cwd, proxies }: Pick<CommandContext, "cwd" | "proxies">,
  logger?: Pick<Logger, "warn">,
): Promise<TokenStore> {
  const place = tokens ?? besideCredentials(credentials);
  const secretId = secretIdOf(place);
  if (secretId !== undefined) {
    const { secretTokens } = await import("./secret-tokens.ts");
    return secretTokens(secretId, proxies);
  }
  const file = resolve(cwd, place);
  if (logger) await warnIfOthersMayRead(file, logger);
  // A renewal replaces the file, and must not replace a link to it.
  return new FileTokenStore({ file: await realpath(file).catch(() => file) });
}

/** `credentials/uk.json` → `credentials/uk.tokens.json`. */
function besideCredentials(credentials: string): string {
  const isFile = credentials !== STANDARD_INPUT && secretIdOf(credentials) === undefined;
  if (isFile) return `${credentials.replace(/\.json$/, "")}.tokens.json`;
  throw new SyncError(
    "CONFIG_INVALID",
    "The place of the tokens is missing: the credentials are in no file that it could be beside. Give --tokens FILE or --tokens secretsmanager:NAME, or set BRAND_TOKENS.",
    { fields: { setting: "tokens" } },
  );
}
