// Where `--credentials` says the account's credentials are: in a file, or in AWS Secrets Manager.

import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import { FileCredentials } from "../../../lambdas/job/credentials/file-credentials.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { secretIdOf } from "../options/option-parsers.ts";

/** Reads nothing yet. Who keeps them in a file does not wait for the clients of AWS to load. */
export async function openCredentials(place: string, logger: Logger): Promise<Credentials> {
  const secretId = secretIdOf(place);
  if (secretId === undefined) return new FileCredentials(place, logger);
  const { secretCredentials } = await import("./secret-credentials.ts");
  return secretCredentials(secretId);
}
