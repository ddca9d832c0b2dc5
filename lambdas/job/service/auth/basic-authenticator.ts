// HTTP Basic (interface document §5 rule 4): the same header on every request, no login call.

import type { ServiceCredentials } from "../../credentials/credentials.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Authenticator, Pass } from "./authenticator.ts";
import type { CredentialsInUse } from "./credentials-in-use.ts";

export class BasicAuthenticator implements Authenticator {
  readonly #baseUrl: URL;
  readonly #credentials: CredentialsInUse;

  constructor(baseUrl: URL, credentials: CredentialsInUse) {
    this.#baseUrl = baseUrl;
    this.#credentials = credentials;
  }

  pass(): Promise<Pass> {
    return Promise.resolve(this.#passOf(this.#credentials.present));
  }

  #passOf(credentials: ServiceCredentials): Pass {
    const { origin } = this.#baseUrl;
    const isCurrent = (): boolean => this.#credentials.present === credentials;
    // RFC 7617 §2.1: UTF-8, which is also what ASCII-only services see.
    const token = Buffer.from(`${credentials.email}:${credentials.password}`, "utf8").toString("base64");
    return {
      get isCurrent() {
        return isCurrent();
      },
      headers: (url) => (url.origin === origin ? { authorization: `Basic ${token}` } : {}),
      keep: () => undefined,
      accepted: () => undefined,
      release: () => undefined,
      refused: async () => {
        if (await this.#credentials.haveChangedSince(credentials)) return this.pass();
        throw refused();
      },
    };
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
