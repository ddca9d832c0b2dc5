// Servers of a test's own on a free port of loopback: HTTP by a handler, raw bytes, a proxy, TLS in front of another one.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { connect, createServer as createNetServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

export interface LocalServer extends AsyncDisposable {
  readonly url: string;
  /** Connections accepted so far. */
  readonly connections: number;
  /** The connections that are open now. */
  readonly open: number;
}

export async function httpServer(listener: RequestListener): Promise<LocalServer> {
  return listening(createServer(listener));
}

/** `onRequest` gets the connection once something has come. */
export async function rawServer(onRequest: (socket: Socket) => void): Promise<LocalServer> {
  return listening(createNetServer((socket) => socket.once("data", () => onRequest(socket))));
}

/** A proxy or a server whose headers never end. */
export function neverAnswers(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\nx: ");
  const drip = setInterval(() => socket.write("x"), 20);
  socket.on("close", () => clearInterval(drip));
}

async function listening(server: Server): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

/** Forwards connections to another server, and sends `interim` before each of its responses. */
export async function interimProxy(interim: string, targetUrl: string): Promise<LocalServer> {
  const { hostname, port } = new URL(targetUrl);
  return listening(
    createNetServer((socket) => {
      const target = connect(Number(port), hostname);
      let isNext = true;
      socket.on("data", (chunk) => {
        isNext = true;
        target.write(chunk);
      });
      target.on("data", (chunk) => {
        if (isNext) socket.write(interim);
        isNext = false;
        socket.write(chunk);
      });
      target.on("error", () => undefined);
      target.on("close", () => socket.destroy());
      socket.on("close", () => target.destroy());
    }),
  );
}

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

const FIXTURES = new URL("../../../fixtures/tls/", import.meta.url);

const read = (name: string): Buffer => readFileSync(new URL(name, FIXTURES));

/** The certificate of the authority, for `NODE_EXTRA_CA_CERTS`. */
export const AUTHORITY = new URL("authority.pem", FIXTURES).pathname;

/** The certificate of an authority below it, which servers send with their own. */
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
  const server = createTlsServer(
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
