// The addresses of the service's endpoints.

/** The URL of a path of the interface, below the base. The path is not resolved, so it cannot leave the origin. */
export function endpoint(base: URL, path: `/v1/${string}`): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/$/, "") + path;
  return url;
}
