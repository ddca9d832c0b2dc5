// A redirect is never followed: credentials belong to one origin. The error says where it pointed.

import { SyncError } from "../errors/sync-error.ts";
import type { Answer } from "./transport.ts";

export function redirected(request: string, url: URL, answer: Answer): SyncError {
  const target = redirectTarget(url, answer);
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${answer.status}, a redirect to ${target}, which is not followed because ` +
      "the credentials belong to --base-url only. If the service has moved there, set --base-url to it.",
    { fields: { request, status: answer.status, target } },
  );
}

/** Origin and path. Query, fragment, user and path parameters (";jsessionid=…") may carry secrets. */
function redirectTarget(url: URL, answer: Answer): string {
  const location = answer.headers.get("location")?.[0];
  if (location === undefined) return "nowhere (no Location header)";
  const target = URL.parse(location, url.href);
  return target === null ? "something that is no URL" : target.origin + target.pathname.replace(/;.*/, "");
}
