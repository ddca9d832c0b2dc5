// A request to the simulated service: the endpoint, the event, and what else its response depends on.

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

/** As it comes, over a socket or without one. */
export interface ReceivedRequest {
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  readonly headers: {
    readonly cookie?: string | undefined;
    readonly authorization?: string | undefined;
    readonly "accept-encoding"?: string | readonly string[] | undefined;
  };
}

export const readRequest = ({ method = "", url = "", headers }: ReceivedRequest): ServiceRequest => {
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
