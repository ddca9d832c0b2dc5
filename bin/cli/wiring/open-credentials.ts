// Where `--credentials` says the account's credentials are: in a file, in AWS Secrets Manager, or on standard input.

import { resolve } from "node:path";
import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import { FileCredentials } from "../../../lambdas/job/credentials/file-credentials.ts";
import { InputCredentials } from "../../../lambdas/job/credentials/input-credentials.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { STANDARD_INPUT, secretIdOf } from "../../../lambdas/job/settings-file/places.ts";
import type { CommandContext } from "./command-context.ts";

/** Reads nothing yet. The AWS clients load only for a secret. A relative path starts from `cwd`. */
export async function openCredentials(
  place: string,
  { cwd, proxies, stdin, signal }: Pick<CommandContext, "cwd" | "proxies" | "stdin" | "signal">,
  logger: Logger,
): Promise<Credentials> {
  if (place === STANDARD_INPUT) return new InputCredentials({ input: stdin(), signal });
  const secretId = secretIdOf(place);
  if (secretId === undefined) return new FileCredentials(resolve(cwd, place), logger);
  const { secretCredentials } = await import("./secret-credentials.ts");
  return secretCredentials(secretId, proxies);
}
