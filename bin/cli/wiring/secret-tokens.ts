// The tokens of a deployed account, used from a laptop: the stack's second secret.

import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SecretsManagerTokenStore } from "../../../lambdas/job/credentials/tokens/secrets-manager-token-store.ts";
import type { TokenStore } from "../../../lambdas/job/credentials/tokens/token-store.ts";
import { awsClient } from "../../../lambdas/job/network/aws-client.ts";
import type { Proxies } from "../../../lambdas/job/network/proxies.ts";
import { systemClock } from "../../../lambdas/job/runtime/system-clock.ts";
import { awsReady } from "./aws-ready.ts";

/** Asks nothing of AWS. Throws `CONFIG_INVALID` without region or credentials for AWS. */
export async function secretTokens(secretId: string, proxies: Proxies): Promise<TokenStore> {
  const client = await awsReady(new SecretsManagerClient(awsClient(proxies)));
  return new SecretsManagerTokenStore({ client, secretId, clock: systemClock });
}
