// Makes tokens of the code that the browser brought, and stores them.

import { skipStateCheck, validateAuthResponse } from "oauth4webapi";
import type { OAuthCredentials } from "../../../lambdas/job/credentials/credentials.ts";
import type { OAuthTokens } from "../../../lambdas/job/credentials/tokens/oauth-tokens.ts";
import { type Proxies, proxyFor } from "../../../lambdas/job/network/proxies.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import { exchangeCode } from "../../../lambdas/job/service/auth/oauth/exchange-code.ts";
import { authorizationServer } from "../../../lambdas/job/service/auth/oauth/token-endpoint.ts";
import { UndiciTransport } from "../../../lambdas/job/service/http/undici-transport.ts";
import { KnownSecrets } from "../../../lambdas/job/service/known-secrets.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";

const TIMEOUT_MS = 30_000;

export interface CodeExchangeOptions {
  readonly authUrl: URL;
  readonly credentials: OAuthCredentials;
  readonly request: AuthorizationRequest;
  readonly proxies: Proxies;
  readonly clock: Pick<Clock, "now">;
  /** The command that authorizes again, for the remedy. */
  readonly authorize: string;
  readonly store: (tokens: OAuthTokens) => Promise<void>;
}

/** One request for each code: it is valid once. */
export function codeExchange(options: CodeExchangeOptions): (code: string) => Promise<void> {
  const { authUrl, credentials, request, proxies, clock, authorize, store } = options;
  const { redirectUri, codeVerifier } = request;
  const client = { client_id: credentials.client_id };
  // The state is checked already. An `iss` (RFC 9207) is left out: the service's interface names no issuer to compare.
  const callbackOf = (code: string): URLSearchParams =>
    validateAuthResponse(authorizationServer(authUrl), client, new URLSearchParams({ code }), skipStateCheck);
  return async (code) => {
    const secrets = new KnownSecrets();
    secrets.know(credentials);
    const proxy = proxyFor(authUrl, proxies);
    const transport = secrets.watching(new UndiciTransport({ connections: 1, timeoutMs: TIMEOUT_MS, proxy }));
    try {
      const tokens = await exchangeCode({
        authUrl,
        transport,
        headers: { "user-agent": `brand-events-sync/${VERSION}`, accept: "application/json" },
        now: () => clock.now(),
        credentials,
        code: { callback: callbackOf(code), redirectUri, codeVerifier },
        authorize,
      });
      await store(tokens);
    } catch (error) {
      throw secrets.maskedError(error);
    } finally {
      await transport.close();
    }
  };
}
