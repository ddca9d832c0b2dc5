// What the browser asks the identity provider for, and the tokens for the code that it brings back.

import { createHash } from "node:crypto";
import type { OAuthCredentials } from "../../../lambdas/job/credentials/credentials.ts";
import type { OAuthTokens } from "../../../lambdas/job/credentials/tokens/token-store.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { type Proxies, proxyFor } from "../../../lambdas/job/network/proxies.ts";
import type { Clock, Random } from "../../../lambdas/job/runtime/clock.ts";
import { USER_AGENT } from "../../../lambdas/job/runtime/version.ts";
import { putOffPauseMs, TokenEndpoint } from "../../../lambdas/job/service/auth/oauth/token-endpoint.ts";
import { UndiciTransport } from "../../../lambdas/job/service/http/undici-transport.ts";
import { endpoint } from "../../../lambdas/job/service/requests/api-client.ts";

const TIMEOUT_MS = 30_000;

interface ExchangeOptions {
  readonly authUrl: URL;
  readonly credentials: OAuthCredentials;
  readonly request: Pick<AuthorizationRequest, "redirectUri" | "codeVerifier">;
  readonly proxies: Proxies;
  readonly clock: Pick<Clock, "now" | "sleep">;
  /** The command that authorizes again, for the remedy. */
  readonly authorize: string;
  readonly store: (tokens: OAuthTokens) => Promise<void>;
}

/**
 * Exchanges the code of an authorization for its first tokens (docs/service-interface.md §3.5). A code is valid
 * once: only a request that was certainly not carried out is sent again. Throws `AUTHORIZATION_EXPIRED` for a code that is not valid any more,
 * `CREDENTIALS_INVALID` for a wrong client, `SERVICE_UNAVAILABLE`, `THROTTLED` or `UNEXPECTED_RESPONSE`.
 */
export async function exchangeCode(code: string, options: ExchangeOptions): Promise<void> {
  const { authUrl, credentials, request, proxies, clock, authorize, store } = options;
  const proxy = proxyFor(authUrl, proxies);
  const transport = new UndiciTransport({ connections: 1, timeoutMs: TIMEOUT_MS, proxy });
  const headers = { "user-agent": USER_AGENT, accept: "application/json" };
  const tokenEndpoint = new TokenEndpoint({ authUrl, transport, headers, now: () => clock.now() });
  try {
    const grant = {
      grant_type: "authorization_code",
      code,
      redirect_uri: request.redirectUri,
      // What proves that the code was asked for here (RFC 7636 §4.5).
      code_verifier: request.codeVerifier,
    };
    for (let requests = 1; ; requests += 1) {
      const answer = await tokenEndpoint.ask(credentials, grant);
      if (answer.kind === "tokens") return await store(answer.tokens);
      if (answer.kind === "over") {
        const why = "The identity provider does not accept the code: it has expired or was used already.";
        const fields = { method: "oauth", status: answer.status };
        throw new SyncError("AUTHORIZATION_EXPIRED", why, { fields, next: `Authorize again: ${authorize}` });
      }
      const pauseMs = answer.kind === "put-off" ? putOffPauseMs(answer, requests) : undefined;
      if (pauseMs === undefined) throw answer.error(requests);
      await clock.sleep(pauseMs);
    }
  } finally {
    await transport.close();
  }
}

/** What the person's browser asks the identity provider for (docs/service-interface.md §3.4). */
export interface AuthorizationRequest {
  /** Where the person logs in. It holds no secret. */
  readonly address: string;
  /** The address as registered at the operator, who compares it as text. */
  readonly redirectUri: string;
  /** Comes back with the answer, so that another page cannot send one of its own (RFC 6749 §10.12). */
  readonly state: string;
  /** Secret until the exchange: the code is of no use without it (RFC 7636). */
  readonly codeVerifier: string;
}

/** Exactly the documented parameters, and those of RFC 6749 and RFC 7636 that protect the answer. */
export function authorizationRequest(
  authUrl: URL,
  clientId: string,
  redirectUri: string,
  random: Pick<Random, "token">,
): AuthorizationRequest {
  const state = random.token();
  // RFC 7636 §4.1: 43 to 128 characters.
  const codeVerifier = `${random.token()}-${random.token()}`;
  const address = endpoint(authUrl, "/oauth/authorize");
  address.search = new URLSearchParams({
    response_type: "code",
    scope: "brandindex",
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
  }).toString();
  return { address: address.href, redirectUri, state, codeVerifier };
}
