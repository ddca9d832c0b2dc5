// Network settings of AWS clients: time limits where the SDK has none, and the proxy.

import { Agent as HttpAgent } from "node:http";
import { type AgentOptions, Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import type { S3ClientConfig } from "@aws-sdk/client-s3";
import { agentProxies, type Proxies } from "./proxies.ts";

/** The SDK's own limit; an agent that is given to it does not have it. */
const MAX_SOCKETS = 50;

/**
 * For every client's constructor. A connection, tunnel and TLS included, is open within `connectionTimeout`. Region and
 * credentials come from the environment, as usual with AWS. Throws `CONFIG_INVALID` for an unusable proxy.
 */
export function awsClient(proxies: Proxies, connectionTimeout = 5_000) {
  const proxyEnv = agentProxies(proxies);
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS, proxyEnv };
  return {
    // For one request, the first attempt included; the SDK waits in between, with jitter.
    maxAttempts: 5,
    requestHandler: {
      connectionTimeout,
      // Without any byte in either direction: a stream that is not read for so long ends as well.
      socketTimeout: 60_000,
      ...(proxyEnv && {
        httpAgent: new HttpAgent(agent),
        httpsAgent: new TunnelAgent(agent, connectionTimeout),
      }),
    },
  } as const satisfies Pick<S3ClientConfig, "maxAttempts" | "requestHandler">;
}

/**
 * Ends a tunnel that is not open in time. Node.js limits only how long a proxy sends nothing, and when the SDK gives its
 * request up, the tunnel stays.
 */
class TunnelAgent extends HttpsAgent {
  readonly #timeoutMs: number;

  constructor(options: AgentOptions, timeoutMs: number) {
    super(options);
    this.#timeoutMs = timeoutMs;
  }

  override createConnection(
    options: Parameters<HttpsAgent["createConnection"]>[0],
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    // Node.js calls back for tunnels only.
    const socket = super.createConnection(options, (error, stream) => {
      clearTimeout(timer);
      callback?.(error, stream);
    });
    const timer = setTimeout(() => this.#isOpen(socket) || socket?.destroy(), this.#timeoutMs);
    timer.unref();
    socket?.once("close", () => clearTimeout(timer));
    return socket;
  }

  /** A socket that needed no tunnel. */
  #isOpen(socket: unknown): boolean {
    const open = [...Object.values(this.sockets), ...Object.values(this.freeSockets)];
    return open.some((sockets) => sockets?.some((each) => each === socket));
  }
}
