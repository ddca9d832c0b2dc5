// POST {auth_url}/oauth/token: a code or a refresh token becomes tokens (docs/service-interface.md §3.5 and §3.6).

import { CANARY } from "../account.ts";
import { json, type SimulatedResponse } from "../simulated-response.ts";
import { accessTokenLifetimeMs, type Grants, type IssuedTokens } from "./grants.ts";
import { NOT_STORED, oauthError } from "./identity-faults.ts";
import type { IdentitySettings } from "./identity-settings.ts";

export const tokenEndpoint = (
  form: URLSearchParams,
  grants: Grants,
  settings: IdentitySettings,
  nowMs: number,
): SimulatedResponse => {
  const repeated = [...form.keys()].some((name, index, names) => names.indexOf(name) !== index);
  if (repeated) return oauthError("invalid_request");
  const { client } = settings;
  if (form.get("client_id") !== client.id || form.get("client_secret") !== client.secret) {
    return oauthError("invalid_client", 401);
  }
  switch (form.get("grant_type")) {
    case "authorization_code": {
      const code = form.get("code");
      if (code === null) return oauthError("invalid_request");
      const given = {
        code,
        redirectUri: form.get("redirect_uri") ?? undefined,
        verifier: form.get("code_verifier") ?? undefined,
      };
      return answer(grants.exchange(given, nowMs, settings), settings);
    }
    case "refresh_token": {
      const token = form.get("refresh_token");
      if (token === null) return oauthError("invalid_request");
      return answer(grants.refresh(token, nowMs, settings), settings);
    }
    default:
      return oauthError("unsupported_grant_type");
  }
};

/** RFC 6749 §5.1. */
const answer = (
  tokens: IssuedTokens | undefined,
  { tokenResponse, accessToken, client }: IdentitySettings,
): SimulatedResponse => {
  if (tokens === undefined) return oauthError("invalid_grant");
  const {
    expiresIn = "number",
    tokenType = "Bearer",
    without = [],
    withIdToken = false,
    raw,
  } = tokenResponse;
  const seconds = Math.floor(accessTokenLifetimeMs(accessToken) / 1_000);
  const members = {
    access_token: tokens.accessToken,
    token_type: tokenType,
    ...(expiresIn === "absent" ? {} : { expires_in: expiresIn === "text" ? String(seconds) : seconds }),
    ...(tokens.refreshToken === undefined ? {} : { refresh_token: tokens.refreshToken }),
    ...(withIdToken ? { id_token: idToken(client.id) } : {}),
    scope: "brandindex",
  };
  const left = Object.entries(members).filter(([name]) => !without.some((member) => member === name));
  const body = JSON.stringify(Object.fromEntries(left));
  return json(200, raw?.(body) ?? body, NOT_STORED);
};

/** A JSON Web Token of an issuer that the service's interface does not name; its signature is not one. */
const idToken = (clientId: string): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: "https://issuer.example.test", aud: clientId, sub: CANARY.email, iat: 1, exp: 2 };
  return `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}.${part({ canary: CANARY.body })}`;
};
