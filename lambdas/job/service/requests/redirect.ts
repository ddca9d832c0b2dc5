// A redirect is never followed: credentials belong to one origin. The error says where it pointed.

import { SyncError } from "../../errors/sync-error.ts";
import type { Address } from "../endpoint.ts";
import type { HttpResponse } from "../http/transport.ts";

/** A host name has at most 255 characters (RFC 1035 §2.3.4); a longer path helps no reader. */
const MAX_SHOWN = 300;

/** Does not advise to use the target: a forged response could point to a server that collects credentials. */
export function redirected(request: string, url: Address, response: HttpResponse): SyncError {
  const target = redirectTarget(url, response);
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${response.status}, a redirect to ${target}, which is not followed because ` +
      "the credentials belong to --base-url only. Ask the service's operator for the right address; do " +
      "not copy it from a response.",
    { fields: { request, status: response.status, target } },
  );
}

export function redirectTarget(url: Address, response: HttpResponse): string {
  const location = response.headers.get("location")?.[0];
  return location === undefined
    ? "nowhere (no Location header)"
    : shownTarget(URL.parse(location, url.href), url);
}

/** The origin and, for the same origin, the path. The rest may be secret, path parameters (";jsessionid=…") included. */
export function shownTarget(target: URL | null, { origin }: Pick<Address, "origin">): string {
  if (target?.protocol !== "https:" && target?.protocol !== "http:")
    return "something that is not a web address";
  const [path = ""] = target.origin === origin ? target.pathname.split(";", 1) : [];
  const shown = target.origin + path;
  return shown.length > MAX_SHOWN ? "an address that is too long to show" : shown;
}
