// Logs in with the current credentials. If they are refused, logs in with those that have been stored since.

import type { PasswordCredentials } from "../../credentials/credentials.ts";
import { isRefusedLogin } from "../../errors/is-refused-login.ts";
import type { CurrentCredentials } from "./current-credentials.ts";
import { type LoginOptions, login } from "./login.ts";
import type { Login } from "./session-authenticator.ts";

export type SessionLoginOptions = Omit<LoginOptions, "credentials"> & {
  readonly credentials: CurrentCredentials<PasswordCredentials>;
};

/** Never sends refused credentials twice: repeating a refused login can lock the account. */
export function sessionLogin(options: SessionLoginOptions): Login {
  const inUse = options.credentials;
  return async (signal) => {
    const credentials = inUse.current;
    try {
      return await login({ ...options, credentials }, signal);
    } catch (error) {
      if (!isRefusedLogin(error) || !(await inUse.haveChangedSince(credentials))) throw error;
      return login({ ...options, credentials: inUse.current }, signal);
    }
  };
}
