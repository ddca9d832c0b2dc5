// Exchanges the code of an authorization for its first tokens (docs/service-interface.md §3.5).

import type { OAuthCredentials } from "../../../credentials/credentials.ts";
import type { OAuthTokens } from "../../../credentials/tokens/oauth-tokens.ts";
import { answerError, authorizationExpired, wrongClient } from "./answer-error.ts";
import { newTokens } from "./new-tokens.ts";
import { type AuthorizationCode, TokenEndpoint, type TokenEndpointOptions } from "./token-endpoint.ts";

export interface ExchangeCodeOptions extends Omit<TokenEndpointOptions, "counters"> {
  readonly credentials: OAuthCredentials;
  readonly code: AuthorizationCode;
  /** The command that authorizes again, for the remedy. */
  readonly authorize: string;
}

/**
 * One request: a code is valid once. Throws `AUTHORIZATION_EXPIRED` for a code that is not valid any more,
 * `CREDENTIALS_INVALID` for a wrong client, `SERVICE_UNAVAILABLE`, `THROTTLED` or `UNEXPECTED_RESPONSE`.
 */
export async function exchangeCode(options: ExchangeCodeOptions): Promise<OAuthTokens> {
  const { credentials, code, authorize, now } = options;
  const endpoint = new TokenEndpoint(options);
  const obtainedAtMs = now();
  const answer = await endpoint.exchange(credentials, code);
  if (answer.kind === "refused") {
    const { refusal, status } = answer;
    if (refusal === "invalid_client" || refusal === "unauthorized_client") throw wrongClient(status);
    if (refusal === "invalid_grant") {
      const why = "The identity provider does not accept the code: it has expired or was used already.";
      throw authorizationExpired(why, authorize, { status });
    }
  }
  if (answer.kind !== "tokens") throw answerError(endpoint.url, answer, 1);
  const { refreshToken } = answer.tokens;
  if (refreshToken === undefined) {
    const problem = "has no refresh_token, without which no run works unattended";
    throw answerError(endpoint.url, { kind: "unusable", problem, isUnreadable: false, refreshToken }, 1);
  }
  return newTokens(credentials.client_id, answer.tokens, refreshToken, obtainedAtMs);
}
