// The credentials of a deployed account, used from a laptop: the stack's secret.

import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import { SecretsManagerCredentials } from "../../../lambdas/job/credentials/secrets-manager-credentials.ts";
import { awsClient } from "../../../lambdas/job/network/aws-client.ts";
import type { Proxies } from "../../../lambdas/job/network/proxies.ts";
import { awsReady } from "./aws-ready.ts";

/** Asks nothing of AWS. Throws `CONFIG_INVALID` without region or credentials for AWS. */
export async function secretCredentials(secretId: string, proxies: Proxies): Promise<Credentials> {
  const client = await awsReady(new SecretsManagerClient(awsClient(proxies)));
  return new SecretsManagerCredentials({ client, secretId });
}
