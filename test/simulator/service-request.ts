// A request to the simulated service: the endpoint, the event, and what else its response depends on.

import type { IncomingMessage } from "node:http";

export type Endpoint = "login" | "list" | "detail" | "other";

export interface ServiceRequest {
  readonly endpoint: Endpoint;
  /** The event asked for, as it stands in the path. */
  readonly uuid?: string;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly cookie?: string;
  readonly authorization?: string;
  readonly acceptEncoding: string;
}

export const readRequest = (message: IncomingMessage): ServiceRequest => {
  const { method = "", url = "", headers } = message;
  const at = url.indexOf("?");
  const path = at < 0 ? url : url.slice(0, at);
  return {
    ...target(path),
    method,
    query: new URLSearchParams(at < 0 ? "" : url.slice(at)),
    ...(headers.cookie === undefined ? {} : { cookie: headers.cookie }),
    ...(headers.authorization === undefined ? {} : { authorization: headers.authorization }),
    acceptEncoding: String(headers["accept-encoding"] ?? ""),
  };
};

/** Paths are compared as received: a doubled or added slash is answered with 404. */
const target = (path: string): Pick<ServiceRequest, "endpoint" | "uuid"> => {
  if (path === "/v1/auth/login") return { endpoint: "login" };
  if (path === "/v1/events") return { endpoint: "list" };
  const uuid = /^\/v1\/events\/([^/]+)$/.exec(path)?.[1];
  return uuid === undefined ? { endpoint: "other" } : { endpoint: "detail", uuid };
};
