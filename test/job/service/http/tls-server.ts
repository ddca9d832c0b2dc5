// TLS in front of a local server, with a certificate of the fixtures: all are from one private authority.

import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createServer } from "node:tls";
import { type LocalServer, listening } from "./local-server.ts";

const FIXTURES = new URL("../../../fixtures/tls/", import.meta.url);

/** The certificate of the authority, for `NODE_EXTRA_CA_CERTS`. */
export const AUTHORITY = new URL("authority.pem", FIXTURES).pathname;

/** `service` is for service.test and 127.0.0.1; so is `expired`; `other-host` is for other.test. */
export async function tlsServer(
  certificate: "service" | "expired" | "other-host",
  targetUrl: string,
): Promise<LocalServer> {
  const read = (name: string): Buffer => readFileSync(new URL(name, FIXTURES));
  const server = createServer({ key: read("service.key"), cert: read(`${certificate}.pem`) }, (socket) => {
    const target = connect(Number(new URL(targetUrl).port), "127.0.0.1");
    target.on("error", () => socket.destroy());
    socket.on("error", () => target.destroy());
    socket.pipe(target).pipe(socket);
  });
  server.on("tlsClientError", () => undefined);
  const local = await listening(server);
  return Object.assign(local, { url: local.url.replace("http:", "https:") });
}
