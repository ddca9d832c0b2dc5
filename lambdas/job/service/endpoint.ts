// The addresses of the service's endpoints.

/** What a request needs of its URL. */
export type Address = Pick<URL, "href" | "origin" | "pathname" | "search">;

/** The URL of a path of the interface, below the base. The path is not resolved, so it cannot leave the origin. */
export function endpoint(base: URL, path: `/v1/${string}`): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/$/, "") + path;
  return url;
}

/**
 * The addresses of the things below a path, by name, as `endpoint` makes them. Parsing a URL takes longer than all else
 * before a request is sent, and there is a request for each event.
 */
export function endpointsBelow(base: URL, path: `/v1/${string}/`): (name: string) => Address {
  const { origin, pathname: folder } = endpoint(base, path);
  return (name) => {
    const pathname = folder + encodeURIComponent(name);
    return { href: origin + pathname, origin, pathname, search: "" };
  };
}
