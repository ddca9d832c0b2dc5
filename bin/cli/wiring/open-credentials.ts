// Where `--credentials` says the account's credentials are: in a file, or in AWS Secrets Manager.

import { resolve } from "node:path";
import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import { FileCredentials } from "../../../lambdas/job/credentials/file-credentials.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { secretIdOf } from "../options/option-parsers.ts";
import type { CommandContext } from "./command-context.ts";

/** Reads nothing yet. The AWS clients load only for a secret. A relative path starts from `cwd`. */
export async function openCredentials(
  place: string,
  { cwd, proxies }: Pick<CommandContext, "cwd" | "proxies">,
  logger: Logger,
): Promise<Credentials> {
  const secretId = secretIdOf(place);
  if (secretId === undefined) return new FileCredentials(resolve(cwd, place), logger);
  const { secretCredentials } = await import("./secret-credentials.ts");
  return secretCredentials(secretId, proxies);
}
