// HTTP Basic (docs/service-interface.md §4.2): the same header on every request, no login call.

import type { PasswordCredentials } from "../../credentials/credentials.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Authenticator, Authorization } from "../requests/authenticator.ts";
import type { CurrentCredentials } from "./current-credentials.ts";

export class BasicAuthenticator implements Authenticator {
  readonly #baseUrl: URL;
  readonly #credentials: CurrentCredentials<PasswordCredentials>;
  /** One for all requests. */
  #authorization: Authorization | undefined;

  constructor(baseUrl: URL, credentials: CurrentCredentials<PasswordCredentials>) {
    this.#baseUrl = baseUrl;
    this.#credentials = credentials;
  }

  authorize(): Authorization {
    if (this.#authorization?.isCurrent !== true) this.#authorization = this.#made(this.#credentials.current);
    return this.#authorization;
  }

  #made(credentials: PasswordCredentials): Authorization {
    const { origin } = this.#baseUrl;
    const isCurrent = (): boolean => this.#credentials.current === credentials;
    // RFC 7617 §2.1: UTF-8, which is also what ASCII-only services see.
    const token = Buffer.from(`${credentials.email}:${credentials.password}`, "utf8").toString("base64");
    return {
      get isCurrent() {
        return isCurrent();
      },
      headers: (url) => (url.origin === origin ? { authorization: `Basic ${token}` } : {}),
      settle: ({ kind }) => (kind === "refused" ? this.#after(credentials) : undefined),
    };
  }

  async #after(refused: PasswordCredentials): Promise<Authorization> {
    if (await this.#credentials.haveChangedSince(refused)) return this.authorize();
    throw unauthenticated();
  }
}

function unauthenticated(): SyncError {
  return new SyncError(
    "UNAUTHENTICATED",
    "The service refused the e-mail address and password (status 401, method basic). Check the credentials; if they " +
      "are right, ask the service's operator whether the account is disabled, or use the method session.",
    { fields: { method: "basic", status: 401 } },
  );
}
