// Transports that a test uses and forgets.

import { afterEach } from "vitest";
import type { TransportRequest } from "../../../../lambdas/job/service/http/transport.ts";
import { UndiciTransport } from "../../../../lambdas/job/service/http/undici-transport.ts";

const transports: UndiciTransport[] = [];
export const transport = (timeoutMs = 5_000, connections = 4, proxy?: string): UndiciTransport => {
  const created = new UndiciTransport({
    connections,
    timeoutMs,
    ...(proxy === undefined ? {} : { proxy: new URL(proxy) }),
  });
  transports.push(created);
  return created;
};
afterEach(async () => {
  await Promise.all(transports.splice(0).map((each) => each.close()));
});

export const get = (url: string, bodyCapBytes = 1_000): TransportRequest => ({
  method: "GET",
  url: new URL("/v1/events?is_listed=true", url),
  headers: { accept: "application/json" },
  bodyCapBytes,
});
