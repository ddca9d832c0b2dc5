// Opens connections through an HTTP proxy (CONNECT, RFC 9110 §9.3.6).

import { type ClientRequest, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import type { buildConnector } from "undici";

type Connect = buildConnector.connector;

/** The proxy did not open a tunnel. `code` is short: that of a network error, or `PROXY_STATUS_` and the status. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  readonly code: string;
  /** Scheme, host and port, without credentials. */
  readonly proxy: string;

  constructor(proxy: URL, code: string) {
    super(`no tunnel (${code})`);
    this.code = code;
    this.proxy = proxy.origin;
  }
}

interface TunnelLimits {
  /** From the connection to the proxy until the end of its answer. */
  readonly timeoutMs: number;
  /** Ends tunnels that are being opened. */
  readonly signal: AbortSignal;
}

/** Wraps a connector: each connection goes through a tunnel of its own. */
export function proxyTunnel(proxy: URL, connect: Connect, limits: TunnelLimits): Connect {
  return (options, callback) => {
    const port = options.port || (options.protocol === "https:" ? "443" : "80");
    openTunnel(proxy, `${options.hostname}:${port}`, limits).then(
      (socket) => {
        if (options.protocol === "https:") connect({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: unknown) => callback(error instanceof Error ? error : new ProxyError(proxy, "UNKNOWN"), null),
    );
  };
}

async function openTunnel(proxy: URL, target: string, { timeoutMs, signal }: TunnelLimits): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const request = connectRequest(proxy, target, signal);
  const fail = (code: string): void => {
    reject(new ProxyError(proxy, code));
    request.destroy();
  };
  // Not the time without a byte: a proxy may send one now and then, for ever.
  const timer = setTimeout(() => fail("TIMED_OUT"), timeoutMs);
  request.once("connect", ({ statusCode = 0 }, socket: Socket) => {
    if (statusCode >= 200 && statusCode < 300) return resolve(socket);
    socket.destroy();
    fail(`PROXY_STATUS_${statusCode}`);
  });
  request.on("error", (error) => fail("code" in error ? String(error.code) : "NOT_HTTP"));
  request.end();
  return promise.finally(() => clearTimeout(timer));
}

function connectRequest(proxy: URL, target: string, signal: AbortSignal): ClientRequest {
  const { protocol, username, password } = proxy;
  const userInfo = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(userInfo).toString("base64")}`;
  const send = protocol === "https:" ? httpsRequest : httpRequest;
  return send({
    method: "CONNECT",
    protocol,
    hostname: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: proxy.port || (protocol === "https:" ? 443 : 80),
    path: target,
    agent: false,
    signal,
    headers: { host: target, ...(username === "" ? {} : { "proxy-authorization": authorization }) },
  });
}
