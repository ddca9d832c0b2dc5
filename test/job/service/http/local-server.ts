// A server of a test's own on a free port: HTTP by a handler, or raw bytes.

import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createConnection, createServer as createNetServer, type Server, type Socket } from "node:net";

export interface LocalServer extends AsyncDisposable {
  readonly url: string;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Those that are open now. */
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

export async function listening(server: Server): Promise<LocalServer> {
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
      const target = createConnection(Number(port), hostname);
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
