// The token endpoint of the identity provider (docs/service-interface.md §3.5 and §3.6): one request, and what its answer
// means (RFC 6749 §5.1 and §5.2).

import type { OAuthCredentials } from "../../../credentials/credentials.ts";
import { isToken, type OAuthTokens } from "../../../credentials/tokens/token-store.ts";
import { advise, command, setting } from "../../../errors/advice.ts";
import { type ErrorFields, SyncError } from "../../../errors/sync-error.ts";
import { isObject, type JsonObject } from "../../../json/json-pointers.ts";
import { decodeText, parseBody } from "../../events/shape.ts";
import { type HttpResponse, NoResponse, type Transport } from "../../http/transport.ts";
import { AddressDoubt } from "../../requests/address-doubt.ts";
import { endpoint } from "../../requests/api-client.ts";
import { permanentProblem } from "../../requests/connection-problem.ts";
import {
  attemptsExhausted,
  BadStatus,
  type Failure,
  redirected,
  requestName,
  throttled,
  UnusableBody,
  unusableBody,
} from "../../requests/failure.ts";
import { isPutOff, retryAfterMs, statusClass } from "../../requests/retry.ts";
import { MAX_PAUSE_MS, ServiceCounts } from "../../requests/sender.ts";
import { isOver } from "./is-over.ts";

interface TokenEndpointOptions {
  readonly authUrl: URL;
  /** The transport's time-out is the time that one answer may take. */
  readonly transport: Transport;
  readonly headers: Readonly<Record<string, string>>;
  readonly now: () => number;
  /** Where the requests are counted. */
  readonly counts?: ServiceCounts;
}

/** The request was certainly not carried out. */
export type PutOff = Pick<FailedAnswer, "error"> & { readonly kind: "put-off"; readonly failure: Failure };

type TokenAnswer =
  | { readonly kind: "tokens"; readonly tokens: OAuthTokens }
  /** The refresh token or the code has expired, was revoked, or was used already. */
  | { readonly kind: "over"; readonly status: number }
  | PutOff
  | FailedAnswer;

/** Another answer without tokens of use. */
interface FailedAnswer {
  /**
   * `wrong-client`: the identity provider does not know the client, or its secret is wrong. `lost`: the answer did not arrive, or
   * not as it was sent; whether the endpoint has done its work is unknown.
   */
  readonly kind: "wrong-client" | "lost" | "other";
  /** A refresh token that the answer has nevertheless. */
  readonly refreshToken?: string | undefined;
  /** Without a text of the answer. @param requests how many have been sent */
  error(requests: number): SyncError;
}

/** The kinds of refusal that RFC 6749 §5.2 names. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
]);

const BODY_CAP_BYTES = 65_536;

const NO_OBJECT = new UnusableBody("a body that is not a JSON object");

/** Sends each request once, to the exact origin of `authUrl`. */
export class TokenEndpoint {
  readonly url: URL;
  readonly #options: TokenEndpointOptions;
  /** Whether any response has come so far. */
  hasResponded = false;
  /** Whether one has come that put nothing off. */
  hasAnswered = false;
  /** Whether this address has given tokens, in this run or before. */
  #hasWorked = false;

  constructor(options: TokenEndpointOptions) {
    this.#options = options;
    this.url = endpoint(options.authUrl, "/oauth/token");
  }

  /**
   * @param grant the parameters of RFC 6749 §4.1.3 or §6, without those of the client
   * @param hasWorked whether a request of this kind was accepted before: a refusal then means what it brought, not its form
   */
  async ask(
    { client_id, client_secret }: OAuthCredentials,
    grant: Readonly<Record<string, string>>,
    hasWorked = false,
  ): Promise<TokenAnswer> {
    const { transport, counts = new ServiceCounts(), headers, now } = this.#options;
    const request = {
      method: "POST",
      url: this.url,
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded;charset=UTF-8" },
      body: new URLSearchParams({ ...grant, client_id, client_secret }).toString(),
      bodyCapBytes: BODY_CAP_BYTES,
      readsRefusal: true,
    } as const;
    this.#hasWorked ||= hasWorked;
    // The tokens are not younger than that.
    const obtainedAtMs = now();
    counts.requests += 1;
    try {
      const response = await transport.send(request);
      this.hasResponded = true;
      counts.bytes += response.decodedBytes;
      const { refresh_token, redirect_uri } = grant;
      return this.#read(response, { client_id, refresh_token, redirect_uri, obtainedAtMs, hasWorked });
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      return this.#lost(error);
    }
  }

  #read(response: HttpResponse, sent: Sent): TokenAnswer {
    const { status, headers, body } = response;
    const request = requestName("POST", this.url);
    const waitMs = retryAfterMs(headers, this.#options.now());
    const failure = new BadStatus(status, waitMs);
    this.hasAnswered ||= !isPutOff(failure);
    if (status === 429 && !isPutOff(failure)) return { kind: "other", error: () => throttled(request) };
    const members = body.kind === "whole" ? jsonMembers(body.bytes) : undefined;
    switch (statusClass(status)) {
      case "read":
        if (members !== undefined) return this.#tokensIn(members, sent, status);
        return this.#withoutTokens(response);
      case "retry":
        return this.#lost(failure);
      case "renew":
      case "refused":
        if (sent.redirect_uri !== undefined && names(members, sent.redirect_uri))
          return { kind: "other", error: () => wrongRedirect(request, status) };
        return isOver(status, members, sent.hasWorked)
          ? { kind: "over", status }
          : this.#refused(status, members?.["error"]);
      case "redirect":
        return {
          kind: "other",
          error: () => this.#told(redirected(request, this.url, response, "authUrl")),
        };
    }
  }

  /** A 2xx that is no JSON object. */
  #withoutTokens(response: HttpResponse): TokenAnswer {
    const problem = unusableBody(response, NO_OBJECT, "authUrl");
    if (response.body.kind === "broken") return this.#lost(problem);
    return { ...this.#unusable(problem.message, response.status), kind: "lost" };
  }

  /** Reads a 2xx. An `expires_in` that is no number is as good as none: the tokens matter more. */
  #tokensIn(members: JsonObject, sent: Sent, status: number): TokenAnswer {
    const { access_token, token_type, refresh_token, expires_in } = members;
    const refreshToken = isToken(refresh_token) ? refresh_token : undefined;
    const hasTokens = isToken(access_token) || refreshToken !== undefined;
    if (!hasTokens && isOver(status, members, sent.hasWorked)) return { kind: "over", status };
    const unusable = (problem: string): FailedAnswer => ({
      ...this.#unusable(`a body that ${problem}`, status),
      refreshToken,
    });
    if (!isToken(access_token)) return unusable("has no access_token that can be sent in a header");
    if (typeof token_type !== "string" || token_type.toLowerCase() !== "bearer")
      return unusable('has no token_type "Bearer"');
    // RFC 6749 §6: without a new refresh token the old one stays valid.
    const next = refreshToken ?? ((refresh_token ?? "") === "" ? sent.refresh_token : undefined);
    if (next === undefined)
      return unusable("has no refresh_token that can be used, without which no run works unattended");
    const lifetime = seconds(expires_in);
    const tokens: OAuthTokens = {
      format: 1,
      client_id: sent.client_id,
      access_token,
      refresh_token: next,
      token_type: "Bearer",
      obtained_at: new Date(sent.obtainedAtMs).toISOString(),
      ...(lifetime && { expires_at: new Date(sent.obtainedAtMs + lifetime * 1_000).toISOString() }),
      ...(sent.refresh_token !== undefined && { renewed: true }),
    };
    this.#hasWorked = true;
    return { kind: "tokens", tokens };
  }

  #refused(status: number, error: unknown): TokenAnswer {
    // RFC 6749 §5.2: a client that is not authenticated may get 401 instead of 400.
    const refusal = REFUSALS.has(error) || status !== 401 ? error : "invalid_client";
    if (refusal === "invalid_client" || refusal === "unauthorized_client")
      return { kind: "wrong-client", error: () => wrongClient(status) };
    const what = REFUSALS.has(refusal) ? `an error (${refusal})` : "nothing that OAuth 2.0 defines";
    return this.#unexpected(what, status);
  }

  #unusable(body: string, status: number): FailedAnswer {
    return this.#unexpected(`${body}, so there is no usable access token`, status);
  }

  #unexpected(what: string, status: number): FailedAnswer {
    const request = requestName("POST", this.url);
    return {
      kind: "other",
      error: () =>
        this.#told(
          new AddressDoubt(
            "UNEXPECTED_RESPONSE",
            `${request} was answered with status ${status} and ${what}.`,
            {
              ifNew: advise`Check that ${setting("authUrl")} is the address of the identity provider; if it is right, ask the service's operator.`,
              fields: { request, status },
            },
          ),
        ),
    };
  }

  #told(error: SyncError): SyncError {
    const isKnown = this.#hasWorked && error instanceof AddressDoubt;
    return isKnown ? error.atKnownAddress(this.#options.now()) : error;
  }

  #lost(failure: Failure): TokenAnswer {
    const request = requestName("POST", this.url);
    const failed = { request, url: this.url, address: "authUrl" } as const;
    const permanent = permanentProblem({ ...failed, failures: 1 }, failure, this.hasResponded);
    if (permanent) return { kind: "other", error: () => permanent };
    const error = (failures: number): SyncError =>
      this.#told(attemptsExhausted({ ...failed, failures }, failure));
    return isPutOff(failure) ? { kind: "put-off", failure, error } : { kind: "lost", error };
  }
}

const PAUSES_MS = [500, 2_000, 4_000, 8_000, 16_000];

/** How long to wait before a request that was put off so many times is sent again; undefined: it is not. */
export function putOffPauseMs({ failure }: PutOff, times: number): number | undefined {
  const askedMs = failure.kind === "status" ? (failure.retryAfterMs ?? 0) : 0;
  const pauseMs = PAUSES_MS[times - 1];
  return pauseMs === undefined || askedMs > MAX_PAUSE_MS ? undefined : Math.max(askedMs, pauseMs);
}

/** What an answer's tokens are made with. */
interface Sent {
  readonly client_id: string;
  readonly refresh_token: string | undefined;
  readonly redirect_uri: string | undefined;
  readonly obtainedAtMs: number;
  readonly hasWorked: boolean;
}

/** Whether a refusal is about the redirect address: it has the parameter's name, however it is written, or the address. */
function names(members: JsonObject | undefined, redirectUri: string): boolean {
  const text = JSON.stringify(members ?? {});
  return /redirect[\s_-]?ur[il]/i.test(text) || text.includes(JSON.stringify(redirectUri).slice(1, -1));
}

function wrongRedirect(request: string, status: number): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${status}: the identity provider does not accept the redirect address.`,
    {
      fields: { request, status },
      next: "Authorize again, with the redirect address exactly as it is registered for the client; if it is the same, ask the service's operator.",
    },
  );
}

/** The members of a JSON object; undefined for any other text. */
function jsonMembers(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value = parseBody(decodeText(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A longer life is as good as none that is known, and an instant must stay one that a date can hold. */
const LONGEST_SECONDS = 315_360_000;

/** Some providers send the number as text. */
function seconds(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value;
  return typeof number === "number" && number > 0 && number <= LONGEST_SECONDS ? number : undefined;
}

export function authorizationExpired(message: string, fields: ErrorFields = {}): SyncError {
  const next = advise`Authorize: ${command("authorize")}.`;
  return new SyncError("AUTHORIZATION_EXPIRED", message, { fields: { method: "oauth", ...fields }, next });
}

function wrongClient(status: number): SyncError {
  return new SyncError(
    "CREDENTIALS_INVALID",
    `The identity provider does not accept the client (status ${status}).`,
    {
      fields: { method: "oauth", status },
      next: advise`Check client_id and client_secret in the credentials; if they are right, check ${setting("authUrl")} and ask the service's operator, who issues them.`,
    },
  );
}
