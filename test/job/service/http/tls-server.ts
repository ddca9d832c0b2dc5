// TLS in front of a local server, with a certificate of the fixtures (`make.sh` there): all are from one private authority.

import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createServer, type TlsOptions } from "node:tls";
import { type LocalServer, listening } from "./local-server.ts";

const FIXTURES = new URL("../../../fixtures/tls/", import.meta.url);

const read = (name: string): Buffer => readFileSync(new URL(name, FIXTURES));

/** The certificate of the authority, for `NODE_EXTRA_CA_CERTS`. */
export const AUTHORITY = new URL("authority.pem", FIXTURES).pathname;

/** That of an authority below it, which servers send with their own. */
export const INTERMEDIATE = new URL("intermediate.pem", FIXTURES).pathname;

/** Diffie-Hellman parameters of 1,024 bits. */
export const SHORT_DH = read("short-dh.pem");

/** `other-host` is for other.test, all others are for service.test and 127.0.0.1. `short` has an RSA key of 1,024 bits. */
export type Certificate = "service" | "expired" | "other-host" | "below-intermediate" | "sha1" | "short";

/** @param options of Node.js, for what a server of today would not do */
export async function tlsServer(
  certificate: Certificate,
  targetUrl: string,
  options: TlsOptions = {},
): Promise<LocalServer> {
  const key = read(certificate === "short" ? "short.key" : "service.key");
  const server = createServer(
    { key, cert: read(`${certificate}.pem`), ciphers: ANY_CIPHER, ...options },
    (socket) => {
      const target = connect(Number(new URL(targetUrl).port), "127.0.0.1");
      target.on("error", () => socket.destroy());
      socket.on("error", () => target.destroy());
      socket.pipe(target).pipe(socket);
    },
  );
  server.on("tlsClientError", () => undefined);
  const local = await listening(server);
  return Object.assign(local, { url: local.url.replace("http:", "https:") });
}

/** OpenSSL itself would not use weak keys. */
const ANY_CIPHER = "DEFAULT:@SECLEVEL=0";
