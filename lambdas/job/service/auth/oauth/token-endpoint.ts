// The token endpoint of the identity provider (docs/service-interface.md §3.5 and §3.6): one request, and what its answer
// means (RFC 6749 §5.1 and §5.2).

import type { OAuthCredentials } from "../../../credentials/credentials.ts";
import { isToken, type OAuthTokens } from "../../../credentials/tokens/token-store.ts";
import { type ErrorFields, SyncError } from "../../../errors/sync-error.ts";
import { type HttpResponse, NoResponse, type Transport } from "../../http/transport.ts";
import {
  attemptsExhausted,
  BadStatus,
  type Failure,
  permanentProblem,
  redirected,
  requestName,
  throttled,
  UnusableBody,
} from "../../requests/failure.ts";
import { retryAfterMs, statusClass } from "../../requests/retry.ts";
import type { ServiceCounters } from "../../requests/sender.ts";

export interface TokenEndpointOptions {
  readonly authUrl: URL;
  /** Its time-out is the time that one answer may take. */
  readonly transport: Transport;
  readonly headers: Readonly<Record<string, string>>;
  readonly now: () => number;
  /** Where the requests are counted. */
  readonly counters?: ServiceCounters | undefined;
}

type TokenAnswer =
  | { readonly kind: "tokens"; readonly tokens: OAuthTokens }
  /** The refresh token or the code has expired, was revoked, or was used already. */
  | { readonly kind: "invalid-grant"; readonly status: number }
  | FailedAnswer;

/** Another answer without tokens of use. */
interface FailedAnswer {
  /**
   * `wrong-client`: the identity provider does not know the client, or its secret is wrong. `lost`: the answer did not arrive, or
   * not as it was sent; whether the endpoint has done its work is unknown.
   */
  readonly kind: "wrong-client" | "lost" | "other";
  /** One that it has nevertheless. */
  readonly refreshToken?: string | undefined;
  /** Without a text of the answer. @param requests how many have been sent */
  error(requests: number): SyncError;
}

/** The kinds of refusal that RFC 6749 §5.2 names. */
const REFUSALS = [
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
] as const;

type Refusal = (typeof REFUSALS)[number];

const BODY_CAP_BYTES = 65_536;

/** Sends each request once, to the exact origin of `authUrl`. */
export class TokenEndpoint {
  readonly url: URL;
  readonly #options: TokenEndpointOptions;

  constructor(options: TokenEndpointOptions) {
    this.#options = options;
    this.url = identityEndpoint(options.authUrl, "token");
  }

  refresh(credentials: OAuthCredentials, refreshToken: string): Promise<TokenAnswer> {
    return this.ask(credentials, { grant_type: "refresh_token", refresh_token: refreshToken });
  }

  /** @param grant the parameters of RFC 6749 §4.1.3 or §6, without those of the client */
  async ask(
    { client_id, client_secret }: OAuthCredentials,
    grant: Readonly<Record<string, string>>,
  ): Promise<TokenAnswer> {
    const { transport, counters, headers, now } = this.#options;
    const request = {
      method: "POST",
      url: this.url,
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded;charset=UTF-8" },
      body: new URLSearchParams({ ...grant, client_id, client_secret }).toString(),
      bodyCapBytes: BODY_CAP_BYTES,
      readsRefusal: true,
    } as const;
    // The tokens are not younger than that.
    const obtainedAtMs = now();
    counters?.add("requests");
    try {
      const response = await transport.send(request);
      counters?.add("bytes", response.decodedBytes);
      const answer = this.#read(response);
      if (answer.kind !== "grant") return answer;
      // RFC 6749 §6: without a new refresh token the old one stays valid.
      const refreshToken = answer.refreshToken ?? grant["refresh_token"];
      return refreshToken === undefined
        ? this.#unusable("has no refresh_token, without which no run works unattended")
        : { kind: "tokens", tokens: newTokens(client_id, answer, refreshToken, obtainedAtMs) };
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      return this.#lost(error);
    }
  }

  #read(response: HttpResponse): TokenAnswer | Grant {
    const { status, headers, body } = response;
    const request = requestName("POST", this.url);
    if (status === 429) {
      const waitMs = retryAfterMs(headers, this.#options.now());
      return { kind: "other", error: () => throttled(request, waitMs) };
    }
    const members = body.kind === "whole" ? jsonMembers(body.bytes) : undefined;
    switch (statusClass(status)) {
      case "read":
        return body.kind === "broken"
          ? this.#lost(new UnusableBody(`a body that broke off (${body.cause})`, "Check the network."))
          : this.#grantIn(members);
      case "retry":
        return this.#lost(new BadStatus(status));
      case "renew":
        // RFC 6749 §5.2: a client that is not authenticated may get 401 instead of 400.
        return this.#refused(status, refusalOf(members) ?? "invalid_client");
      case "refused": {
        const refusal = refusalOf(members);
        return refusal === undefined
          ? this.#unexpected("nothing that OAuth 2.0 defines", status)
          : this.#refused(status, refusal);
      }
      case "redirect":
        return { kind: "other", error: () => redirected(request, this.url, response, "--auth-url") };
    }
  }

  /** Reads a 2xx. An `expires_in` that is no number is as good as none: the tokens matter more. */
  #grantIn(members: Readonly<Record<string, unknown>> | undefined): TokenAnswer | Grant {
    if (members === undefined) return { ...this.#unusable("is not a JSON object"), kind: "lost" };
    const { access_token, token_type, refresh_token, expires_in } = members;
    const refreshToken = isToken(refresh_token) ? refresh_token : undefined;
    const unusable = (problem: string): FailedAnswer => ({ ...this.#unusable(problem), refreshToken });
    if (access_token === undefined) return unusable("has no access_token");
    if (!isToken(access_token)) return unusable("has an access_token that cannot be sent in a header");
    if (token_type === undefined) return unusable("has no token_type");
    if (typeof token_type !== "string" || token_type.toLowerCase() !== "bearer")
      return unusable('has a token_type that is not "Bearer"');
    if (refresh_token !== undefined && refresh_token !== null && refreshToken === undefined)
      return unusable("has a refresh_token that cannot be used");
    return { kind: "grant", accessToken: access_token, refreshToken, expiresInSeconds: seconds(expires_in) };
  }

  #refused(status: number, refusal: Refusal): TokenAnswer {
    if (refusal === "invalid_grant") return { kind: "invalid-grant", status };
    if (refusal !== "invalid_client" && refusal !== "unauthorized_client")
      return this.#unexpected(`an error (${refusal})`, status);
    return { kind: "wrong-client", error: () => wrongClient(status) };
  }

  #unusable(problem: string): FailedAnswer {
    return this.#unexpected(`a body that ${problem}, so there is no usable access token`, 200);
  }

  #unexpected(what: string, status: number): FailedAnswer {
    const request = requestName("POST", this.url);
    return {
      kind: "other",
      error: () =>
        new SyncError(
          "UNEXPECTED_RESPONSE",
          `${request} was answered with status ${status} and ${what}. Check that --auth-url is the address of the identity provider; ` +
            "if it is right, ask the service's operator.",
          { fields: { request, status } },
        ),
    };
  }

  #lost(failure: Failure): FailedAnswer {
    const request = requestName("POST", this.url);
    return {
      kind: "lost",
      error: (failures) => {
        const failed = { request, url: this.url, failures, addressOption: "--auth-url" } as const;
        return permanentProblem(failed, failure, false) ?? attemptsExhausted(failed, failure);
      },
    };
  }
}

/** The tokens of an answer. */
interface Grant {
  readonly kind: "grant";
  readonly accessToken: string;
  /** Absent where the one that was sent stays valid. */
  readonly refreshToken: string | undefined;
  /** How long the access token is valid; undefined where the answer does not say so. */
  readonly expiresInSeconds: number | undefined;
}

/** The interface names these two, below the address. */
export function identityEndpoint(authUrl: URL, name: "authorize" | "token"): URL {
  return new URL(`${authUrl.href.replace(/\/$/, "")}/oauth/${name}`);
}

/** The members of a JSON object; undefined for any other text. */
function jsonMembers(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The refusal that an error names; undefined for none, or one that the RFC does not know. */
function refusalOf(members: Readonly<Record<string, unknown>> | undefined): Refusal | undefined {
  return REFUSALS.find((each) => each === members?.["error"]);
}

/** Some providers send the number as text. */
function seconds(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number > 0 ? number : undefined;
}

/** A longer life is as good as none that is known, and an instant must stay one that a date can hold. */
const LONGEST_SECONDS = 315_360_000;

function newTokens(
  clientId: string,
  { accessToken, expiresInSeconds }: Grant,
  refreshToken: string,
  obtainedAtMs: number,
): OAuthTokens {
  const expires =
    expiresInSeconds === undefined || expiresInSeconds > LONGEST_SECONDS
      ? {}
      : { expires_at: new Date(obtainedAtMs + expiresInSeconds * 1_000).toISOString() };
  return {
    format: 1,
    client_id: clientId,
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: "Bearer",
    obtained_at: new Date(obtainedAtMs).toISOString(),
    ...expires,
  };
}

/** @param message with the command that authorizes */
export function authorizationExpired(message: string, fields: ErrorFields = {}): SyncError {
  return new SyncError("AUTHORIZATION_EXPIRED", message, { fields: { method: "oauth", ...fields } });
}

function wrongClient(status: number): SyncError {
  return new SyncError(
    "CREDENTIALS_INVALID",
    `The identity provider does not accept the client (status ${status}). Check client_id and client_secret in the credentials; ` +
      "if they are right, check --auth-url and ask the service's operator, who issues them.",
    { fields: { method: "oauth", status } },
  );
}
