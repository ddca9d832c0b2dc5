// Tokens as they are stored, from an answer of the token endpoint.

import type { OAuthTokens } from "../../../credentials/tokens/oauth-tokens.ts";
import type { GrantedTokens } from "./granted-tokens.ts";

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
