// HTTP Basic (interface document §5 rule 4): the same header on every request, no login call.

import type { ServiceCredentials } from "../credentials/credentials.ts";
import { SyncError } from "../errors/sync-error.ts";
import type { Authenticator, Pass } from "./authenticator.ts";

export class BasicAuthenticator implements Authenticator {
  readonly #pass: Pass;

  constructor(baseUrl: URL, credentials: ServiceCredentials) {
    // RFC 7617 §2.1: UTF-8, which is also what ASCII-only services see.
    const token = Buffer.from(`${credentials.email}:${credentials.password}`, "utf8").toString("base64");
    this.#pass = {
      isCurrent: true,
      headers: (url) => (url.origin === baseUrl.origin ? { authorization: `Basic ${token}` } : {}),
      keep: () => undefined,
      accepted: () => undefined,
      release: () => undefined,
      refused: () => Promise.reject(refused()),
    };
  }

  pass(): Promise<Pass> {
    return Promise.resolve(this.#pass);
  }
}

function refused(): SyncError {
  return new SyncError(
    "UNAUTHENTICATED",
    "The service refused the e-mail address and password (status 401, method basic). Check the credentials; if they " +
      "are right, ask the service's operator whether the account is disabled, or use the method session.",
    { fields: { method: "basic", status: 401 } },
  );
}
