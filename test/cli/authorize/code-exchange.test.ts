import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { authorizationRequest } from "../../../bin/cli/authorize/code-exchange.ts";
import { systemRandom } from "../../../lambdas/job/runtime/random.ts";

const request = (authUrl: string) =>
  authorizationRequest({
    authUrl: new URL(authUrl),
    clientId: "a client & more",
    redirectUri: "http://127.0.0.1:8912/callback",
    random: systemRandom,
  });

test("the address has the documented parameters, state and an S256 challenge, and no secret", () => {
  const { address, state, codeVerifier } = request("https://login.example/sso");

  const url = new URL(address);
  expect(url.origin + url.pathname).toBe("https://login.example/sso/oauth/authorize");
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: "code",
    scope: "brandindex",
    client_id: "a client & more",
    redirect_uri: "http://127.0.0.1:8912/callback",
    state,
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  expect(codeVerifier).toMatch(/^[\w.~-]{43,128}$/);
  expect(address).not.toContain(codeVerifier);
});

test("each authorization has a state and a verifier of its own", () => {
  const [one, other] = [request("https://login.example/"), request("https://login.example/")];

  expect(one.state).not.toBe(other.state);
  expect(one.codeVerifier).not.toBe(other.codeVerifier);
  expect(one.address).toMatch(/^https:\/\/login\.example\/oauth\/authorize\?/);
});
