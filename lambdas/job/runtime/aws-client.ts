// How clients of AWS behave on the network: bounded, where the SDK by itself would wait for ever.

import type { S3ClientConfig } from "@aws-sdk/client-s3";

/** For every client's constructor. Region and credentials come from the environment, as everywhere with AWS. */
export const AWS_CLIENT = {
  // Of one request, the first one included; the delays between them are the SDK's own, with jitter.
  maxAttempts: 5,
  requestHandler: {
    connectionTimeout: 5_000,
    // Without any byte either way: a stream that nobody reads for so long is given up as well.
    socketTimeout: 60_000,
  },
} as const satisfies Pick<S3ClientConfig, "maxAttempts" | "requestHandler">;
