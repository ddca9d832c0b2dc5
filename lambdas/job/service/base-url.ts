// Reads the base URL as people paste it, and makes the addresses of the service's endpoints from it.

import { SyncError } from "../errors/sync-error.ts";

/**
 * The base without its trailing `/v1` or `/`. Throws `CONFIG_INVALID`; the message never repeats the text, which
 * may hold a password by mistake.
 */
export function parseBaseUrl(text: string): URL {
  const url = URL.parse(text.trim());
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw invalid("it must be an absolute URL such as https://api.example.com");
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid("it must not carry a user name or password; put them into the credentials");
  }
  if (url.search !== "" || url.hash !== "") throw invalid("it must not have a query or a fragment");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw invalid(
      "http: would send the credentials in clear text and is accepted for loopback hosts only; use https:",
    );
  }
  url.pathname = withoutLastSlashes(withoutLastSlashes(url.pathname).replace(/\/v1$/, ""));
  return url;
}

/** The URL of a path of the interface, below the base. The path is not resolved, so it cannot leave the origin. */
export function endpoint(base: URL, path: `/v1/${string}`): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/$/, "") + path;
  return url;
}

// A regular expression would take quadratic time on a long run of slashes.
function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

// The URL parser has already turned forms such as 127.1 or 0x7f000001 into four decimal numbers.
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", `The base URL (--base-url) is not usable: ${problem}.`, {
    fields: { setting: "base-url" },
  });
}
