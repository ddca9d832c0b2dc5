// Network settings of AWS clients: time limits where the SDK has none, and the proxy.

import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { S3ClientConfig } from "@aws-sdk/client-s3";
import { agentProxies, type Proxies } from "./proxies.ts";

/** The SDK's own limit; an agent that is given to it does not have it. */
const MAX_SOCKETS = 50;

/**
 * For every client's constructor. Region and credentials come from the environment, as usual with AWS. Throws
 * `CONFIG_INVALID` for an unusable proxy.
 */
export function awsClient(proxies: Proxies) {
  const proxyEnv = agentProxies(proxies);
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS, proxyEnv };
  return {
    // For one request, the first attempt included; the SDK waits in between, with jitter.
    maxAttempts: 5,
    requestHandler: {
      connectionTimeout: 5_000,
      // Without any byte in either direction: a stream that is not read for so long ends as well.
      socketTimeout: 60_000,
      ...(proxyEnv && { httpAgent: new HttpAgent(agent), httpsAgent: new HttpsAgent(agent) }),
    },
  } as const satisfies Pick<S3ClientConfig, "maxAttempts" | "requestHandler">;
}
