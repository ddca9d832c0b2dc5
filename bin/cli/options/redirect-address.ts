// The redirect address: where the identity provider sends the browser with its answer. It is registered at the operator.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { isLoopback } from "../../../lambdas/job/network/proxies.ts";

/** As the option takes it. Throws `CONFIG_INVALID`. The text is kept as it came, because providers compare it as text. */
export function redirectAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw invalid("expected an absolute URL such as http://127.0.0.1:8912/callback");
  }
  if (url.username !== "" || url.password !== "")
    throw invalid("expected a URL without a user name and password");
  if (url.search !== "" || url.hash !== "") throw invalid("expected a URL without a query or a fragment");
  if (url.port === "0") throw invalid("expected a URL with a port from 1");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw invalid(
      "expected https:, because http: sends the code in clear text and is accepted for loopback hosts only",
    );
  }
  return text;
}

/** Whether this program can listen on it, so that the answer comes by itself. */
export function canListenOn(redirectUri: string): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === "http:" && isLoopback(hostname);
}

function invalid(problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", problem);
}
