// The credentials of a deployed account, used from a laptop: the stack's secret.

import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import { SecretsManagerCredentials } from "../../../lambdas/job/credentials/secrets-manager-credentials.ts";
import { AWS_CLIENT } from "../../../lambdas/job/runtime/aws-client.ts";
import { awsReady } from "./aws-ready.ts";

/** Asks nothing of AWS. Throws `CONFIG_INVALID` without region or credentials for AWS. */
export async function secretCredentials(secretId: string): Promise<Credentials> {
  const client = await awsReady(new SecretsManagerClient(AWS_CLIENT));
  return new SecretsManagerCredentials({ client, secretId });
}
