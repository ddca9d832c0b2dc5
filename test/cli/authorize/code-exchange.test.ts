import { createHash } from "node:crypto";
import { describe, expect, it, test } from "vitest";
import { authorizationRequest, exchangeCode } from "../../../bin/cli/authorize/code-exchange.ts";
import type { OAuthTokens } from "../../../lambdas/job/credentials/tokens/token-store.ts";
import { readProxies } from "../../../lambdas/job/network/proxies.ts";
import { systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { LogLines } from "../../job/runtime/log-lines.ts";
import { AUTHORIZE } from "../../job/service/auth/oauth/authorized.ts";
import { said } from "../../job/service/connection.ts";
import { CANARY } from "../../simulator/account.ts";
import { IdentityProvider } from "../../simulator/identity/identity-provider.ts";
import type { IdentityChange } from "../../simulator/identity/identity-settings.ts";
import { decide } from "../../simulator/identity/person.ts";

const request = (authUrl: string) =>
  authorizationRequest(new URL(authUrl), "a client & more", "http://127.0.0.1:8912/callback", systemRandom);

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

const NOW_MS = Date.UTC(2026, 10, 21, 6);
const VERIFIER = "verifier".repeat(6);
const REDIRECT = "http://127.0.0.1:8912/callback";

interface Exchanged {
  readonly tokens?: OAuthTokens;
  readonly error?: unknown;
  readonly sent: IdentityProvider["requests"];
}

async function exchange(
  identity: IdentityChange = {},
  given: { readonly code?: string; readonly secret?: string } = {},
): Promise<Exchanged> {
  await using provider = await IdentityProvider.start(identity);
  const authUrl = new URL(provider.url);
  const returned = new URL(await returnedTo(provider)).searchParams.get("code") ?? "";
  let tokens: OAuthTokens | undefined;
  try {
    await exchangeCode(given.code ?? returned, {
      authUrl,
      credentials: {
        ...provider.credentials,
        client_secret: given.secret ?? provider.credentials.client_secret,
      },
      request: { redirectUri: REDIRECT, codeVerifier: VERIFIER },
      proxies: readProxies({}),
      clock: { now: () => NOW_MS },
      authorize: AUTHORIZE,
      store: async (granted) => {
        tokens = granted;
      },
    });
    return { ...(tokens ? { tokens } : {}), sent: sentTo(provider) };
  } catch (error) {
    return { error, sent: sentTo(provider) };
  }
}

const sentTo = ({ requests }: IdentityProvider): IdentityProvider["requests"] =>
  requests.filter(({ path }) => path === "/oauth/token");

/** Where the person's browser ends, after the pages for login and permission. */
async function returnedTo({ url, credentials, user }: IdentityProvider): Promise<string> {
  const address = new URL(`${url}/oauth/authorize`);
  const asked = {
    response_type: "code",
    scope: "brandindex",
    client_id: credentials.client_id,
    redirect_uri: REDIRECT,
    state: "s",
    code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
    code_challenge_method: "S256",
  };
  address.search = new URLSearchParams(asked).toString();
  return decide(address.href, { user, decision: "allow" });
}

describe("the exchange of a code", () => {
  it("sends exactly the interface's parameters, redirect address and verifier, and gives tokens to store", async () => {
    const { tokens, sent } = await exchange();

    const [{ parameters, headers } = { parameters: {}, headers: {} }] = sent;
    expect(sent).toHaveLength(1);
    expect(parameters).toEqual({
      client_id: "brand-client",
      client_secret: CANARY.clientSecret,
      grant_type: "authorization_code",
      code: expect.stringContaining(CANARY.code),
      code_verifier: VERIFIER,
      redirect_uri: REDIRECT,
    });
    expect(headers).not.toHaveProperty("authorization");
    expect(headers).toHaveProperty(
      "content-type",
      expect.stringMatching(/^application\/x-www-form-urlencoded/),
    );
    expect(tokens).toEqual({
      format: 1,
      client_id: "brand-client",
      access_token: expect.stringContaining(CANARY.accessToken),
      refresh_token: expect.stringContaining(CANARY.refreshToken),
      token_type: "Bearer",
      obtained_at: "2026-11-21T06:00:00.000Z",
      expires_at: "2026-11-21T07:00:00.000Z",
    });
  });

  // What else a renewal takes as well: `test/job/service/auth/oauth/token-rotation.test.ts`.
  it("takes bearer in lower case", async () => {
    const { tokens } = await exchange({ tokenResponse: { tokenType: "bearer" } });

    expect(tokens?.token_type).toBe("Bearer");
  });

  it.each([
    [
      "a code that is not valid",
      {},
      { code: "spent" },
      "AUTHORIZATION_EXPIRED",
      `expired or was used already. Authorize again: ${AUTHORIZE}`,
    ],
    ["a wrong client", {}, { secret: "wrong" }, "CREDENTIALS_INVALID", "Check client_id and client_secret"],
    [
      "an answer without refresh_token",
      { tokenResponse: { without: ["refresh_token"] } },
      {},
      "UNEXPECTED_RESPONSE",
      "has no refresh_token",
    ],
    [
      "an answer with an empty refresh_token",
      {
        tokenResponse: {
          raw: (body: string) => body.replace(/"refresh_token":"[^"]+"/, '"refresh_token":""'),
        },
      },
      {},
      "UNEXPECTED_RESPONSE",
      "has no refresh_token",
    ],
    [
      "an answer without token_type",
      { tokenResponse: { without: ["token_type"] } },
      {},
      "UNEXPECTED_RESPONSE",
      "has no token_type",
    ],
    [
      "a web page",
      { faults: [{ match: { target: "authorization_code" }, fault: { kind: "html" } }] },
      {},
      "UNEXPECTED_RESPONSE",
      "and a web page, so there is no usable access token",
    ],
  ] as const)(
    "of %s fails with its remedy and repeats nothing of the answer",
    async (_, identity, given, code, message) => {
      const { error, sent } = await exchange(identity, given);

      expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
      expect(sent).toHaveLength(1);
      expect(said(error, new LogLines())).not.toMatch(/canary|undefined/i);
    },
  );
});
