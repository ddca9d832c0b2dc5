// Network settings of AWS clients: time limits where the SDK has none.

import type { S3ClientConfig } from "@aws-sdk/client-s3";

/** For every client's constructor. Region and credentials come from the environment, as usual with AWS. */
export const AWS_CLIENT = {
  // For one request, the first attempt included; the SDK waits in between, with jitter.
  maxAttempts: 5,
  requestHandler: {
    connectionTimeout: 5_000,
    // Without any byte in either direction: a stream that is not read for so long ends as well.
    socketTimeout: 60_000,
  },
} as const satisfies Pick<S3ClientConfig, "maxAttempts" | "requestHandler">;
