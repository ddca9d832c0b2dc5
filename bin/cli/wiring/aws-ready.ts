// Whether a client of AWS knows its region and finds credentials, before anything is asked of it.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";

interface AwsClient {
  readonly config: { region(): Promise<string>; credentials(): Promise<unknown> };
}

/** The same client. Throws `CONFIG_INVALID` with what to set. */
export async function awsReady<Client extends AwsClient>(client: Client): Promise<Client> {
  await client.config.region().catch((error: unknown) => {
    throw missing(
      "No AWS region is set. Set AWS_REGION to the warehouse's region, or give your profile one.",
      error,
    );
  });
  await client.config.credentials().catch((error: unknown) => {
    throw missing(
      "No AWS credentials were found. Log in to AWS (for example `aws sso login`), or set AWS_PROFILE.",
      error,
    );
  });
  return client;
}

function missing(remedy: string, error: unknown): SyncError {
  const said = error instanceof Error ? error.message : "nothing";
  return new SyncError("CONFIG_INVALID", `${remedy} AWS says: ${said}`);
}
