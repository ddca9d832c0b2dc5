// A redirect address with a port of this machine that is free now.

import { once } from "node:events";
import { createServer } from "node:net";

export async function freeRedirectUri(path = "/callback"): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}${path}`;
}
