// What the simulated identity provider has granted: codes, families of tokens, and which tokens are good now.

import { createHash, randomUUID } from "node:crypto";
import { CANARY } from "../account.ts";
import type { AccessTokenOptions, RefreshTokenOptions } from "./identity-settings.ts";

export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state?: string;
  /** S256 (RFC 7636 §4.2). */
  readonly codeChallenge?: string;
}

export interface IssuedTokens {
  readonly accessToken: string;
  /** Undefined where the response names none. */
  readonly refreshToken: string | undefined;
}

export interface TokenOptions {
  readonly accessToken: AccessTokenOptions;
  readonly refreshToken: RefreshTokenOptions;
}

export interface ExchangeOptions extends TokenOptions {
  readonly codeLifetimeMs: number;
  readonly extras: "checks" | "ignores";
}

/** What a person granted once, and all tokens that came of it. */
interface Family {
  revoked: boolean;
  readonly accessTokens: Set<string>;
}

interface Code {
  readonly request: AuthorizationRequest;
  readonly issuedAtMs: number;
  /** Set when the code was exchanged. */
  family?: Family;
}

interface AccessToken {
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  requests: number;
}

interface RefreshToken {
  readonly family: Family;
  readonly issuedAtMs: number;
  spentAtMs?: number;
}

const HOUR_MS = 3_600_000;

export const accessTokenLifetimeMs = ({ lifetimeMs = HOUR_MS }: AccessTokenOptions): number => lifetimeMs;

export class Grants {
  readonly #codes = new Map<string, Code>();
  readonly #refreshTokens = new Map<string, RefreshToken>();
  readonly #accessTokens = new Map<string, AccessToken>();
  readonly #unique: () => string;
  #spentTokensSeen = 0;
  #revokedFamilies = 0;

  constructor(unique: () => string = randomUUID) {
    this.#unique = unique;
  }

  /** How often a spent refresh token came back, within the time of grace or after it. */
  get spentTokensSeen(): number {
    return this.#spentTokensSeen;
  }

  get revokedFamilies(): number {
    return this.#revokedFamilies;
  }

  code(request: AuthorizationRequest, nowMs: number): string {
    const code = `${CANARY.code}-${this.#unique()}`;
    this.#codes.set(code, { request, issuedAtMs: nowMs });
    return code;
  }

  /** The tokens for a code; undefined: `invalid_grant`. A code that comes twice ends what it had granted (RFC 6749 §4.1.2). */
  exchange(
    given: {
      readonly code: string;
      readonly redirectUri: string | undefined;
      readonly verifier: string | undefined;
    },
    nowMs: number,
    options: ExchangeOptions,
  ): IssuedTokens | undefined {
    const code = this.#codes.get(given.code);
    if (code === undefined) return undefined;
    if (code.family !== undefined) {
      this.#revoke(code.family);
      return undefined;
    }
    if (nowMs - code.issuedAtMs >= options.codeLifetimeMs) return undefined;
    if (options.extras === "checks" && !isForRequest(given, code.request)) return undefined;
    code.family = newFamily();
    return this.#issue(code.family, nowMs, options);
  }

  /** The tokens of a new authorization, as after a code exchange. */
  authorize(nowMs: number, options: TokenOptions): IssuedTokens {
    return this.#issue(newFamily(), nowMs, options);
  }

  /** The tokens for a refresh token; undefined: `invalid_grant`. */
  refresh(refreshToken: string, nowMs: number, options: TokenOptions): IssuedTokens | undefined {
    const token = this.#refreshTokens.get(refreshToken);
    if (token === undefined || token.family.revoked) return undefined;
    const {
      rotation = "single-use",
      graceMs = 0,
      revokesFamily = true,
      lifetimeMs = Infinity,
    } = options.refreshToken;
    if (nowMs - token.issuedAtMs >= lifetimeMs) return undefined;
    if (rotation !== "single-use") {
      const { accessToken } = this.#issueAccessToken(token.family, nowMs, options.accessToken);
      return { accessToken, refreshToken: rotation === "same" ? refreshToken : undefined };
    }
    if (token.spentAtMs !== undefined) {
      this.#spentTokensSeen += 1;
      if (nowMs - token.spentAtMs >= graceMs) {
        if (revokesFamily) this.#revoke(token.family);
        return undefined;
      }
    }
    token.spentAtMs ??= nowMs;
    return this.#issue(token.family, nowMs, options);
  }

  /** Whether a refresh gave another token in its place. */
  isSpent(refreshToken: string): boolean {
    return this.#refreshTokens.get(refreshToken)?.spentAtMs !== undefined;
  }

  /** Whether the service accepts a request with this access token; if so, one of its requests is used. */
  admits(
    accessToken: string,
    nowMs: number,
    { maxRequests = Infinity, knownAfterMs = 0 }: AccessTokenOptions,
  ): boolean {
    const token = this.#accessTokens.get(accessToken);
    if (token === undefined || nowMs >= token.expiresAtMs || token.requests >= maxRequests) return false;
    if (nowMs < token.issuedAtMs + knownAfterMs) return false;
    token.requests += 1;
    return true;
  }

  endAccessTokens(): void {
    this.#accessTokens.clear();
  }

  /** The person takes back every authorization. */
  revokeAll(): void {
    for (const { family } of this.#refreshTokens.values()) this.#revoke(family);
  }

  #issue(family: Family, nowMs: number, options: TokenOptions): IssuedTokens {
    const refreshToken = `${CANARY.refreshToken}-${this.#unique()}`;
    this.#refreshTokens.set(refreshToken, { family, issuedAtMs: nowMs });
    return { ...this.#issueAccessToken(family, nowMs, options.accessToken), refreshToken };
  }

  #issueAccessToken(
    family: Family,
    nowMs: number,
    options: AccessTokenOptions,
  ): { readonly accessToken: string } {
    if (options.exclusive === true) this.#endAccessTokensOf(family);
    const accessToken = `${CANARY.accessToken}-${this.#unique()}`;
    this.#accessTokens.set(accessToken, {
      issuedAtMs: nowMs,
      expiresAtMs: nowMs + accessTokenLifetimeMs(options),
      requests: 0,
    });
    family.accessTokens.add(accessToken);
    return { accessToken };
  }

  #revoke(family: Family): void {
    if (family.revoked) return;
    family.revoked = true;
    this.#revokedFamilies += 1;
    this.#endAccessTokensOf(family);
  }

  #endAccessTokensOf(family: Family): void {
    for (const token of family.accessTokens) this.#accessTokens.delete(token);
    family.accessTokens.clear();
  }
}

const newFamily = (): Family => ({ revoked: false, accessTokens: new Set() });

/**
 * RFC 6749 §4.1.3: a redirect address that is given is the one of the request (the service's interface does not ask for
 * it). RFC 7636 §4.6, and RFC 9700 §2.1.1: a verifier without a challenge is refused too.
 */
const isForRequest = (
  given: { readonly redirectUri: string | undefined; readonly verifier: string | undefined },
  { redirectUri, codeChallenge }: AuthorizationRequest,
): boolean => {
  if (given.redirectUri !== undefined && given.redirectUri !== redirectUri) return false;
  const challenge =
    given.verifier === undefined
      ? undefined
      : createHash("sha256").update(given.verifier).digest("base64url");
  return challenge === codeChallenge;
};
