// What the identity provider's token endpoint answered (RFC 6749 §5.1 and §5.2), reduced to what this client uses.

import { isToken, type OAuthTokens } from "../../../credentials/tokens/token-store.ts";

/** The tokens of an answer; `refreshToken` is absent where the one that was sent stays valid. */
export interface GrantedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** How long the access token is valid; undefined where the answer does not say so. */
  readonly expiresInSeconds: number | undefined;
}

/** The problem with a 2xx, in words; never a part of the answer. `refreshToken`: one that it has nevertheless. */
export interface UnusableTokens {
  readonly problem: string;
  /** It is no JSON at all: a part of it may have been lost on its way. */
  readonly isUnreadable: boolean;
  readonly refreshToken: string | undefined;
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

export type Refusal = (typeof REFUSALS)[number];

/** The members of a JSON object; undefined for any other text. */
export function jsonMembers(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The refusal that an error names; undefined for none, or one that the RFC does not know. */
export function refusalOf(members: Readonly<Record<string, unknown>> | undefined): Refusal | undefined {
  return REFUSALS.find((each) => each === members?.["error"]);
}

/** Reads a 2xx. An `expires_in` that is no number is as good as none: the tokens matter more. */
export function tokensIn(
  members: Readonly<Record<string, unknown>> | undefined,
): GrantedTokens | UnusableTokens {
  const { access_token, token_type, refresh_token, expires_in } = members ?? {};
  const refreshToken = isToken(refresh_token) ? refresh_token : undefined;
  const unusable = (problem: string): UnusableTokens => ({
    problem,
    isUnreadable: members === undefined,
    refreshToken,
  });
  if (members === undefined) return unusable("is not a JSON object");
  if (access_token === undefined) return unusable("has no access_token");
  if (!isToken(access_token)) return unusable("has an access_token that cannot be sent in a header");
  if (token_type === undefined) return unusable("has no token_type");
  if (typeof token_type !== "string" || token_type.toLowerCase() !== "bearer")
    return unusable('has a token_type that is not "Bearer"');
  if (refresh_token !== undefined && refresh_token !== null && refreshToken === undefined)
    return unusable("has a refresh_token that cannot be used");
  return { accessToken: access_token, refreshToken, expiresInSeconds: seconds(expires_in) };
}

/** Some providers send the number as text. */
function seconds(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number > 0 ? number : undefined;
}

/** A longer life is as good as none that is known, and an instant must stay one that a date can hold. */
const LONGEST_SECONDS = 315_360_000;

/** @param obtainedAtMs when the request was sent: the tokens are not younger than that */
export function newTokens(
  clientId: string,
  { accessToken, expiresInSeconds }: GrantedTokens,
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

/** From a tenth of its life before its end, at most a minute, an access token is renewed before its next use. */
export function isNearItsEnd(
  { obtained_at, expires_at }: Pick<OAuthTokens, "obtained_at" | "expires_at">,
  nowMs: number,
): boolean {
  if (expires_at === undefined) return false;
  const endMs = Date.parse(expires_at);
  const marginMs = Math.min(60_000, Math.max(0, endMs - Date.parse(obtained_at)) / 10);
  return nowMs >= endMs - marginMs;
}
