// The address that a person is sent to, what is made of the answer, received or pasted, and the exchange of its code.

import { createHash } from "node:crypto";
import { PassThrough } from "node:stream";
import { describe, expect, it, test } from "vitest";
import { authorizationRequest, exchangeCode } from "../../../bin/cli/authorize/code-exchange.ts";
import { pasteAnswer, readAnswer } from "../../../bin/cli/authorize/read-answer.ts";
import type { OAuthTokens } from "../../../lambdas/job/credentials/tokens/token-store.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { readProxies } from "../../../lambdas/job/network/proxies.ts";
import { systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { ANY_SHELL, sayError } from "../../../lambdas/words/style.ts";
import { LogLines } from "../../job/runtime/log-lines.ts";
import { AUTHORIZE } from "../../job/service/auth/oauth/authorized.ts";
import { said } from "../../job/service/connection.ts";
import { CANARY } from "../../simulator/account.ts";
import type { IdentityFault } from "../../simulator/identity/identity-faults.ts";
import { IdentityProvider } from "../../simulator/identity/identity-provider.ts";
import type { IdentityChange } from "../../simulator/identity/identity-settings.ts";
import { decide } from "../../simulator/identity/person.ts";
import { ManualClock } from "../../simulator/manual-clock.ts";
import { told } from "../../words/said.ts";

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
      clock: { now: () => NOW_MS, sleep: async () => undefined },
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

      expect(told(error)).toMatchObject({ code, message: expect.stringContaining(message) });
      expect(sent).toHaveLength(1);
      expect(said(error, new LogLines())).not.toMatch(/canary|undefined/i);
    },
  );

  const answered = (fault: IdentityFault, times = Infinity): IdentityChange => ({
    faults: [{ match: { target: "authorization_code", times }, fault }],
  });

  it.each([
    ["a lost answer", { kind: "reset" }],
    ["a connection that is reset", { kind: "reset-before" }],
    ["an answer that breaks off", { kind: "cut" }],
    ...[408, 425, 429, 500, 502, 504].map((status) => [`a ${status}`, { kind: "status", status }] as const),
  ] satisfies readonly (readonly [string, IdentityFault])[])(
    "is never made again after %s",
    async (_, fault) => {
      const { sent } = await exchange(answered(fault));

      expect(sent).toHaveLength(1);
    },
  );

  it.each([
    ["503", { kind: "status", status: 503 }],
    ["429 with a time", { kind: "status", status: 429, headers: { "retry-after": "7" } }],
  ] satisfies readonly (readonly [string, IdentityFault])[])(
    "that was put off is made again, six times at most (%s)",
    async (_, fault) => {
      const { tokens } = await exchange(answered(fault, 5));
      const { sent, error } = await exchange(answered(fault));

      expect(tokens).toBeDefined();
      expect(error).toMatchObject({ message: expect.stringContaining("failed 6 times") });
      expect(sent).toHaveLength(6);
    },
  );

  it.each([
    [400, '{"error":"redirect_uri_mismatch"}'],
    [400, '{"error":"invalid_grant","error_description":"The redirect URI does not match"}'],
    [401, '{"error":{"code":"REDIRECT-URL-INVALID"}}'],
    [400, JSON.stringify({ error: "invalid_request", detail: REDIRECT })],
  ])("that is refused for its redirect address says so (%i, %s)", async (status, body) => {
    const { error, sent } = await exchange(answered({ kind: "status", status, body }));

    expect(told(error)).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining(
        "does not accept the redirect address. Authorize again, with the redirect address exactly as it is registered",
      ),
    });
    expect(sent).toHaveLength(1);
  });
});

const SECRETS = ["the-code", "the-state", "canary-description"];

function outcome(query: string): string {
  try {
    return readAnswer(new URLSearchParams(query), "the-state");
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    const text = sayError(error, ANY_SHELL);
    for (const secret of SECRETS) expect(text).not.toContain(secret);
    expect(text).toMatch(/start authorize again|check|ask/i);
    return error.code;
  }
}

describe("an answer with", () => {
  test.each([
    ["code and state", "code=the-code&state=the-state", "the-code"],
    ["an issuer beside them", "code=the-code&state=the-state&iss=https://x.example", "the-code"],
    ["another state", "code=the-code&state=the-statf", "AUTHORIZATION_EXPIRED"],
    ["a longer state", "code=the-code&state=the-state2", "AUTHORIZATION_EXPIRED"],
    ["an empty state", "code=the-code&state=", "AUTHORIZATION_EXPIRED"],
    ["no state, which a provider may not know", "code=the-code", "the-code"],
    ["two codes", "code=the-code&code=other&state=the-state", "AUTHORIZATION_EXPIRED"],
    ["two states", "code=the-code&state=the-state&state=the-state", "AUTHORIZATION_EXPIRED"],
    [
      "a denial",
      "error=access_denied&state=the-state&error_description=canary-description",
      "AUTHORIZATION_EXPIRED",
    ],
    ["a denial without state", "error=access_denied", "AUTHORIZATION_EXPIRED"],
    ["a denial with another state", "error=access_denied&state=x", "AUTHORIZATION_EXPIRED"],
    ["a wrong client", "error=unauthorized_client&state=the-state", "CREDENTIALS_INVALID"],
    ["an unknown client", "error=invalid_client&state=the-state", "CREDENTIALS_INVALID"],
    ["a refused scope", "error=invalid_scope&state=the-state", "UNEXPECTED_RESPONSE"],
    ["a server that is down", "error=temporarily_unavailable&state=the-state", "SERVICE_UNAVAILABLE"],
    ["another redirect address", "error=redirect_uri_mismatch&state=the-state", "UNEXPECTED_RESPONSE"],
    ["a reason of its own", "error=canary-description&state=the-state", "UNEXPECTED_RESPONSE"],
  ])("%s → %s → %s", (_, query, expected) => {
    expect(outcome(query)).toBe(expected);
  });
});

const REQUEST = {
  address: "https://login.example/oauth/authorize?x",
  redirectUri: "https://app.example/callback",
  state: "the-state",
  codeVerifier: "v",
};

function begin() {
  const lines: string[] = [];
  const input = new PassThrough();
  const clock = new ManualClock(0);
  const stop = new AbortController();
  const ended = pasteAnswer({
    request: REQUEST,
    input,
    terminal: { lines: (texts) => void lines.push(...texts) },
    clock,
    signal: stop.signal,
  }).catch((error: unknown) => (error instanceof SyncError ? error.code : String(error)));
  return { lines, input, clock, stop: () => stop.abort(), ended };
}

describe("a pasted address", () => {
  test.each([
    ["https://app.example/callback?code=c&state=the-state", "c"],
    ["  https://app.example/callback?code=c&state=the-state  ", "c"],
    ["app.example/callback?code=c&state=the-state", "c"],
    ["https://app.example/callback?code=c", "c"],
    ["https://app.example/callback?code=c&state=other", "AUTHORIZATION_EXPIRED"],
    ["https://app.example/callback?error=access_denied&state=the-state", "AUTHORIZATION_EXPIRED"],
  ])("%s → %s", async (line, expected) => {
    const { input, ended } = begin();

    input.end(`${line}\n`);

    expect(await ended).toBe(expected);
  });

  test("that is another one is asked for again; empty lines are not", async () => {
    const { input, ended, lines } = begin();

    input.write("\nhttps://elsewhere.example/callback?code=secret\nhttps://app.example/callback\nsecret\n");
    input.write("https://app.example/callback?code=c&state=the-state\n");

    expect(await ended).toBe("c");
    expect(lines.filter((line) => line.startsWith("That is not the address"))).toHaveLength(3);
    expect(lines.join()).not.toContain("secret");
  });

  test("is told to the person before it is awaited", async () => {
    const { lines, stop, ended } = begin();

    expect(lines[1]).toBe(REQUEST.address);
    expect(lines[2]).toContain("goes to https://app.example/callback?code=…");
    stop();
    expect(await ended).toBe("INTERRUPTED");
  });

  test("that never comes ends with the input, or after ten minutes", async () => {
    const { input, ended } = begin();
    input.end("nothing\n");
    expect(await ended).toBe("CONFIG_INVALID");

    const other = begin();
    other.clock.advance(600_000);
    expect(await other.ended).toBe("AUTHORIZATION_EXPIRED");
  });
});
