// The token endpoint of the identity provider (docs/service-interface.md §3.5 and §3.6): one request, and what its answer
// means. oauth4webapi speaks the protocol, over the transport of this client.

import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  ClientSecretPost,
  type CustomFetchOptions,
  customFetch,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
} from "oauth4webapi";
import type { OAuthCredentials } from "../../../credentials/credentials.ts";
import { type HttpResponse, NoResponse, type Transport } from "../../http/transport.ts";
import type { Failure } from "../../requests/failure.ts";
import { retryAfterMs, statusClass } from "../../requests/retry.ts";
import type { ServiceCounters } from "../../requests/service-counters.ts";
import {
  type GrantedTokens,
  jsonMembers,
  type Refusal,
  refusalOf,
  tokensIn,
  type UnusableTokens,
} from "./granted-tokens.ts";

export interface TokenEndpointOptions {
  readonly authUrl: URL;
  /** Its time-out is the time that one answer may take. */
  readonly transport: Transport;
  readonly headers: Readonly<Record<string, string>>;
  readonly now: () => number;
  /** Where the requests are counted. */
  readonly counters?: ServiceCounters | undefined;
}

export type TokenAnswer = { readonly kind: "tokens"; readonly tokens: GrantedTokens } | FailedAnswer;

/** An answer without tokens of use. None has a text of the answer in it. */
export type FailedAnswer =
  /** A 2xx without usable tokens. `refreshToken`: one that it has nevertheless. */
  | ({ readonly kind: "unusable" } & UnusableTokens)
  | { readonly kind: "refused"; readonly status: number; readonly refusal: Refusal | undefined }
  | { readonly kind: "throttled"; readonly waitMs: number | undefined }
  /** Whether the endpoint has done its work is unknown. */
  | { readonly kind: "no-answer"; readonly failure: Failure }
  | { readonly kind: "other"; readonly response: HttpResponse };

/** What the person's browser brought back: the result of `validateAuthResponse`. */
export interface AuthorizationCode {
  readonly callback: URLSearchParams;
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

const BODY_CAP_BYTES = 65_536;

/** Sends each request once, to the exact origin of `authUrl`. Throws no error of the library: they hold the answer. */
export class TokenEndpoint {
  readonly url: URL;
  readonly #options: TokenEndpointOptions;

  constructor(options: TokenEndpointOptions) {
    this.#options = options;
    this.url = new URL(authorizationServer(options.authUrl).token_endpoint);
  }

  refresh(credentials: OAuthCredentials, refreshToken: string): Promise<TokenAnswer> {
    return this.#ask(credentials, async (server, client, authentication, options) => {
      const response = await refreshTokenGrantRequest(server, client, authentication, refreshToken, options);
      return processRefreshTokenResponse(server, client, response);
    });
  }

  exchange(credentials: OAuthCredentials, code: AuthorizationCode): Promise<TokenAnswer> {
    const { callback, redirectUri, codeVerifier } = code;
    return this.#ask(credentials, async (server, client, authentication, options) => {
      const response = await authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        callback,
        redirectUri,
        codeVerifier,
        options,
      );
      return processAuthorizationCodeResponse(server, client, response);
    });
  }

  async #ask(credentials: OAuthCredentials, ask: Ask): Promise<TokenAnswer> {
    const { authUrl } = this.#options;
    const client: Client = { client_id: credentials.client_id };
    let answer: TokenAnswer | undefined;
    const options = {
      [allowInsecureRequests]: authUrl.protocol === "http:",
      [customFetch]: async (_: string, request: Sent): Promise<Response> => {
        answer = await this.#send(request);
        return Response.json(answer.kind === "tokens" ? rfcBody(answer.tokens) : {});
      },
    };
    try {
      await ask(authorizationServer(authUrl), client, ClientSecretPost(credentials.client_secret), options);
    } catch (error) {
      // Its answer is known by our own words, or nothing was sent: that is a mistake of ours.
      if (answer === undefined) throw error;
      if (answer.kind === "tokens") return { ...UNREADABLE, refreshToken: answer.tokens.refreshToken };
    }
    return answer ?? UNREADABLE;
  }

  async #send({ body, headers }: Sent): Promise<TokenAnswer> {
    const { transport, counters } = this.#options;
    const request = {
      method: "POST",
      url: this.url,
      headers: { ...headers, ...this.#options.headers },
      body: body.toString(),
      bodyCapBytes: BODY_CAP_BYTES,
      readsRefusal: true,
    } as const;
    counters?.add("requests");
    try {
      const response = await transport.send(request);
      counters?.add("bytes", response.decodedBytes);
      return this.#answerOf(response);
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      const { reason, proxy } = error;
      return { kind: "no-answer", failure: { kind: "no-response", reason, proxy } };
    }
  }

  #answerOf(response: HttpResponse): TokenAnswer {
    const { status, headers, body } = response;
    if (status === 429) return { kind: "throttled", waitMs: retryAfterMs(headers, this.#options.now()) };
    const members = body.kind === "whole" ? jsonMembers(body.bytes) : undefined;
    switch (statusClass(status)) {
      case "read": {
        if (body.kind === "broken") {
          const why = `a body that broke off (${body.cause})`;
          return { kind: "no-answer", failure: { kind: "body", why, remedy: "Check the network." } };
        }
        const tokens = tokensIn(members);
        return "problem" in tokens ? { kind: "unusable", ...tokens } : { kind: "tokens", tokens };
      }
      case "retry":
        return { kind: "no-answer", failure: { kind: "status", status, retryAfterMs: undefined } };
      case "renew":
        // RFC 6749 §5.2: a client that is not authenticated may get 401 instead of 400.
        return { kind: "refused", status, refusal: refusalOf(members) ?? "invalid_client" };
      case "refused": {
        const refusal = refusalOf(members);
        return refusal === undefined ? { kind: "other", response } : { kind: "refused", status, refusal };
      }
      case "redirect":
        return { kind: "other", response };
    }
  }
}

type Sent = CustomFetchOptions<"POST", URLSearchParams>;
type Ask = (
  server: AuthorizationServer,
  client: Client,
  authentication: ReturnType<typeof ClientSecretPost>,
  options: NonNullable<Parameters<typeof refreshTokenGrantRequest>[4]>,
) => Promise<unknown>;

const UNREADABLE = {
  kind: "unusable",
  problem: "is not what OAuth 2.0 defines",
  isUnreadable: false,
  refreshToken: undefined,
} as const;

/** The endpoints that the interface names. It names no issuer: the address stands for one, and is compared with nothing. */
export function authorizationServer(
  authUrl: URL,
): AuthorizationServer & Required<Pick<AuthorizationServer, "token_endpoint" | "authorization_endpoint">> {
  const below = authUrl.href.replace(/\/$/, "");
  return {
    issuer: authUrl.href,
    authorization_endpoint: `${below}/oauth/authorize`,
    token_endpoint: `${below}/oauth/token`,
  };
}

/** Only what is used. An `id_token` must not get there: the library would compare it with an issuer. */
function rfcBody({ accessToken, refreshToken, expiresInSeconds }: GrantedTokens): object {
  return {
    access_token: accessToken,
    token_type: "Bearer",
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    ...(expiresInSeconds === undefined ? {} : { expires_in: expiresInSeconds }),
  };
}
