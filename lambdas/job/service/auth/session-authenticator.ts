// Cookie sessions (docs/service-interface.md §4.1): one login, its cookies on every request, a new login when refused.

import { SyncError } from "../../errors/sync-error.ts";
import type { Authenticator, Authorization } from "../requests/authenticator.ts";
import { RenewingAuthenticator } from "./renewing-authenticator.ts";
import type { SessionCookies } from "./session-cookies.ts";

export type Login = (signal: AbortSignal | undefined) => Promise<SessionCookies>;

export class SessionAuthenticator implements Authenticator {
  readonly #sessions: RenewingAuthenticator;
  #logins = 0;

  constructor(login: Login) {
    this.#sessions = new RenewingAuthenticator({
      renew: async (signal) => {
        const cookies = await login(signal);
        this.#logins += 1;
        return {
          isExpired: false,
          // The first login gets a second chance: a service may need a moment or two logins to settle.
          isLastTry: this.#logins > 1,
          headers: (url) => cookies.headers(url),
          keep: (setCookies) => cookies.keep(setCookies),
        };
      },
      unauthenticated,
    });
  }

  authorize(signal?: AbortSignal): Authorization | Promise<Authorization> {
    return this.#sessions.authorize(signal);
  }
}

function unauthenticated(): SyncError {
  return new SyncError(
    "UNAUTHENTICATED",
    "The service accepted the login but answered the next request with 401, also after a new login. Check that the " +
      "account may use the interface and that --base-url is the service itself and no proxy that drops cookies.",
    { fields: { method: "session", status: 401 } },
  );
}
