// A redirect is never followed: credentials belong to one origin. The error says where it pointed.

import { SyncError } from "../../errors/sync-error.ts";
import type { HttpResponse } from "../http/transport.ts";

/** Longer ones are no names of hosts (RFC 1035 §2.3.4: 255), and no paths that help anybody. */
const MAX_SHOWN = 300;

/** Advises nobody to use the target: whoever can answer for the service could have the credentials sent there. */
export function redirected(request: string, url: URL, answer: HttpResponse): SyncError {
  const target = redirectTarget(url, answer);
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${answer.status}, a redirect to ${target}, which is not followed because ` +
      "the credentials belong to --base-url only. Ask the service's operator which address is the right one, and do " +
      "not take it from an answer.",
    { fields: { request, status: answer.status, target } },
  );
}

/** The origin, and of the same origin the path. The rest, path parameters (";jsessionid=…") included, may be secret. */
function redirectTarget(url: URL, answer: HttpResponse): string {
  const location = answer.headers.get("location")?.[0];
  if (location === undefined) return "nowhere (no Location header)";
  const target = URL.parse(location, url.href);
  if (target?.protocol !== "https:" && target?.protocol !== "http:")
    return "something that is no URL of the web";
  const [path = ""] = target.origin === url.origin ? target.pathname.split(";", 1) : [];
  const shown = target.origin + path;
  return shown.length > MAX_SHOWN ? "an address that is too long to be shown" : shown;
}
