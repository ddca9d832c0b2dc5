// A proxy on loopback: every tunnel leads to one local server, or is refused with a status.

import { createServer } from "node:http";
import { connect } from "node:net";
import { type LocalServer, listening } from "./local-server.ts";

export interface ProxyServer extends LocalServer {
  /** What was requested: `CONNECT service.test:443`, and the credentials that came with it. */
  readonly requests: readonly string[];
}

/**
 * @param target the URL of the server that tunnels lead to, or the status that refuses them
 * @param challenges the values of `Proxy-Authenticate` of a refusal, each in a header of its own
 */
export async function proxyServer(
  target: string | number,
  challenges: readonly string[] = [],
): Promise<ProxyServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end("through the proxy");
  });
  server.on("connect", ({ url, headers }, socket) => {
    requests.push([`CONNECT ${url}`, headers["proxy-authorization"] ?? []].flat().join(" "));
    if (typeof target === "number") {
      const headers = challenges.map((challenge) => `proxy-authenticate: ${challenge}\r\n`).join("");
      socket.end(`HTTP/1.1 ${target} No\r\n${headers}content-length: 0\r\n\r\n`);
      return;
    }
    const inner = connect(Number(new URL(target).port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(inner).pipe(socket);
    });
    inner.on("error", () => socket.destroy());
    socket.on("error", () => inner.destroy());
  });
  return Object.assign(await listening(server), { requests });
}
