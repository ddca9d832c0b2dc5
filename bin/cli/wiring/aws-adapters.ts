// The adapters of AWS, with clients that know their region and find credentials before anything is asked of AWS.

import { GlueClient } from "@aws-sdk/client-glue";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { GlueCatalog } from "../../../lambdas/job/catalog/glue/glue-catalog.ts";
import { warehouseLocation } from "../../../lambdas/job/catalog/glue/glue-tables.ts";
import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import { SecretsManagerCredentials } from "../../../lambdas/job/credentials/secrets-manager-credentials.ts";
import { SecretsManagerTokenStore } from "../../../lambdas/job/credentials/tokens/secrets-manager-token-store.ts";
import type { TokenStore } from "../../../lambdas/job/credentials/tokens/token-store.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { awsClient } from "../../../lambdas/job/network/aws-client.ts";
import type { Proxies } from "../../../lambdas/job/network/proxies.ts";
import { systemClock, systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { parseS3Location } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { S3Store } from "../../../lambdas/job/storage/s3/s3-store.ts";
import type { Warehouse } from "./command.ts";

interface AwsClient {
  readonly config: { region(): Promise<string>; credentials(): Promise<unknown> };
}

/** The same client. Throws `CONFIG_INVALID` with what to set. */
async function awsReady<Client extends AwsClient>(client: Client): Promise<Client> {
  const orSay =
    (remedy: string) =>
    (error: unknown): never => {
      const said = error instanceof Error ? error.message : "nothing";
      throw new SyncError("CONFIG_INVALID", `${remedy} AWS says: ${said}`);
    };
  const noRegion =
    "No AWS region is set. Set AWS_REGION to the warehouse's region, or give your profile one.";
  const noCredentials =
    "No AWS credentials were found. Log in to AWS (for example `aws sso login`), or set AWS_PROFILE.";
  await client.config.region().catch(orSay(noRegion));
  await client.config.credentials().catch(orSay(noCredentials));
  return client;
}

/** Asks nothing of AWS. Throws `CONFIG_INVALID` for a wrong location, and without region or credentials. */
export async function openS3Warehouse(
  warehouse: string,
  database: string,
  proxies: Proxies,
): Promise<Warehouse> {
  const aws = awsClient(proxies);
  const { bucket, prefix } = parseS3Location(warehouse);
  const store = new S3Store({
    client: await awsReady(new S3Client(aws)),
    bucket,
    prefix,
    random: systemRandom,
  });
  const location = warehouseLocation(bucket, prefix);
  const client = new GlueClient(aws);
  const catalog = new GlueCatalog({ client, store, database, location, clock: systemClock });
  return { store, catalog };
}

/** Asks nothing of AWS. Throws `CONFIG_INVALID` without region or credentials for AWS. */
export async function secretCredentials(secretId: string, proxies: Proxies): Promise<Credentials> {
  const client = await awsReady(new SecretsManagerClient(awsClient(proxies)));
  return new SecretsManagerCredentials({ client, secretId });
}

/** Asks nothing of AWS. Throws `CONFIG_INVALID` without region or credentials for AWS. */
export async function secretTokens(secretId: string, proxies: Proxies): Promise<TokenStore> {
  const client = await awsReady(new SecretsManagerClient(awsClient(proxies)));
  return new SecretsManagerTokenStore({ client, secretId, clock: systemClock });
}
