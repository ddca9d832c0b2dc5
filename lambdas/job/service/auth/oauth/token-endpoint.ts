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
import type { OAuthTokens } from "../../../credentials/tokens/token-store.ts";
import { type ErrorFields, SyncError } from "../../../errors/sync-error.ts";
import { type HttpResponse, NoResponse, type Transport } from "../../http/transport.ts";
import { redirectTarget } from "../../requests/api-request.ts";
import {
  connectionRemedy,
  describeFailure,
  type Failure,
  permanentProblem,
  requestName,
  retryAfterMs,
  statusClass,
} from "../../requests/failure.ts";
import type { ServiceCounters } from "../../requests/sender.ts";
import {
  type GrantedTokens,
  jsonMembers,
  newTokens,
  type Refusal,
  refusalOf,
  tokensIn,
  type UnusableTokens,
} from "./granted-tokens.ts";

interface TokenEndpointOptions {
  readonly authUrl: URL;
  /** Its time-out is the time that one answer may take. */
  readonly transport: Transport;
  readonly headers: Readonly<Record<string, string>>;
  readonly now: () => number;
  /** Where the requests are counted. */
  readonly counters?: ServiceCounters | undefined;
}

type TokenAnswer = { readonly kind: "tokens"; readonly tokens: GrantedTokens } | FailedAnswer;

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
interface AuthorizationCode {
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

/** Exchanges the code of an authorization for its first tokens (docs/service-interface.md §3.5). */
interface ExchangeCodeOptions extends Omit<TokenEndpointOptions, "counters"> {
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

/** @param why a whole sentence; @param authorize the command that authorizes again */
export function authorizationExpired(why: string, authorize: string, fields: ErrorFields = {}): SyncError {
  return notAuthorized(`${why} Authorize again: ${authorize}`, fields);
}

/** @param message with the command that authorizes */
export function notAuthorized(message: string, fields: ErrorFields = {}): SyncError {
  return new SyncError("AUTHORIZATION_EXPIRED", message, { fields: { method: "oauth", ...fields } });
}

/** A client that the identity provider does not know, or whose secret is wrong. */
export function wrongClient(status: number): SyncError {
  return new SyncError(
    "CREDENTIALS_INVALID",
    `The identity provider does not accept the client (status ${status}). Check client_id and client_secret in the credentials; ` +
      "if they are right, check --auth-url and ask the service's operator, who issues them.",
    { fields: { method: "oauth", status } },
  );
}

/** The error for every answer that brings no tokens and has no meaning of its own to the caller. */
export function answerError(url: URL, answer: FailedAnswer, attempts: number): SyncError {
  const request = requestName("POST", url);
  switch (answer.kind) {
    case "no-answer":
      return unavailable(url, answer, attempts);
    case "throttled":
      return throttled(request, answer.waitMs);
    case "unusable":
      return unexpected(request, `a body that ${answer.problem}, so there is no usable access token`, 200);
    case "refused": {
      const { status, refusal } = answer;
      return unexpected(request, `an error (${refusal ?? "without a known name"})`, status);
    }
    case "other": {
      const { response } = answer;
      const { status } = response;
      if (status < 300 || status > 399) return unexpected(request, "nothing that OAuth 2.0 defines", status);
      const target = redirectTarget(url, response);
      return unexpected(request, `a redirect to ${target}, which is not followed`, status);
    }
  }
}

function unavailable(
  url: URL,
  { failure }: Extract<FailedAnswer, { readonly kind: "no-answer" }>,
  attempts: number,
): SyncError {
  const request = requestName("POST", url);
  const addressOption = "--auth-url";
  if (failure.kind === "no-response") {
    const permanent = permanentProblem({ request, url, failures: attempts, addressOption }, failure, false);
    if (permanent !== undefined) return permanent;
  }
  const remedy =
    failure.kind === "no-response"
      ? connectionRemedy(failure, addressOption)
      : "The problem is on the identity provider's side: run again later.";
  const status = failure.kind === "status" ? failure.status : null;
  return new SyncError(
    "SERVICE_UNAVAILABLE",
    `${request} to ${url.host} brought no usable answer, the last time ${describeFailure(failure)} (requests: ${attempts}). ${remedy}`,
    { fields: { request, attempts, status } },
  );
}

function throttled(request: string, waitMs: number | undefined): SyncError {
  const wait = waitMs === undefined ? "Run again later" : `Run again in ${Math.ceil(waitMs / 1_000)} s`;
  return new SyncError("THROTTLED", `${request} was answered with status 429: too many requests. ${wait}.`, {
    fields: { request, status: 429 },
  });
}

function unexpected(request: string, what: string, status: number): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${status} and ${what}. Check that --auth-url is the address of the identity provider; ` +
      "if it is right, ask the service's operator.",
    { fields: { request, status } },
  );
}
