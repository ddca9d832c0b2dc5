// What the person's browser asks the identity provider for (docs/service-interface.md §3.4).

import { createHash } from "node:crypto";
import type { Random } from "../../../lambdas/job/runtime/random.ts";
import { authorizationServer } from "../../../lambdas/job/service/auth/oauth/token-endpoint.ts";

export interface AuthorizationRequest {
  /** Where the person logs in. It holds no secret. */
  readonly address: string;
  /** As registered at the operator: it is compared as text. */
  readonly redirectUri: string;
  /** Comes back with the answer, so that another page cannot send one of its own (RFC 6749 §10.12). */
  readonly state: string;
  /** Secret until the exchange: the code is of no use without it (RFC 7636). */
  readonly codeVerifier: string;
}

export interface AuthorizationRequestOptions {
  /** Address of the identity provider. */
  readonly authUrl: URL;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly random: Pick<Random, "token">;
}

/** Exactly the documented parameters, and those of RFC 6749 and RFC 7636 that protect the answer. */
export function authorizationRequest(options: AuthorizationRequestOptions): AuthorizationRequest {
  const { authUrl, clientId, redirectUri, random } = options;
  const state = random.token();
  // RFC 7636 §4.1: 43 to 128 characters.
  const codeVerifier = `${random.token()}-${random.token()}`;
  const address = new URL(authorizationServer(authUrl).authorization_endpoint);
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
