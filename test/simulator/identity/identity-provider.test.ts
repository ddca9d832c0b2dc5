import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CANARY } from "../account.ts";
import { ManualClock } from "../manual-clock.ts";
import { makeEvents } from "../simulated-event.ts";
import { Simulator } from "../simulator.ts";
import type { IdentityFault } from "./identity-faults.ts";
import { type IdentityOptions, IdentityProvider } from "./identity-provider.ts";
import { decide } from "./person.ts";

const REDIRECT = "http://127.0.0.1:8912/callback";
const VERIFIER = "v".repeat(43);
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");

let clock: ManualClock;
let provider: IdentityProvider;
beforeEach(() => {
  clock = new ManualClock(0);
});
afterEach(() => provider.stop());

const start = async (options: IdentityOptions = {}): Promise<void> => {
  provider = await IdentityProvider.start({ clock, ...options });
};

const address = (change: Readonly<Record<string, string>> = {}): string =>
  `${provider.url}/oauth/authorize?${new URLSearchParams({
    response_type: "code",
    scope: "brandindex",
    client_id: "brand-client",
    redirect_uri: REDIRECT,
    ...change,
  })}`;

const answerOf = async (
  change: Readonly<Record<string, string>> = {},
  decision: "allow" | "deny" = "allow",
): Promise<Readonly<Record<string, string>>> => {
  const sentTo = new URL(await decide(address(change), { user: provider.user, decision }));
  expect(sentTo.origin + sentTo.pathname).toBe(REDIRECT);
  return Object.fromEntries(sentTo.searchParams);
};

const post = (form: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(`${provider.url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      client_id: "brand-client",
      client_secret: CANARY.clientSecret,
      ...form,
    }),
  });

const exchange = async (code: string, extras: Readonly<Record<string, string>> = {}): Promise<Response> =>
  post({ grant_type: "authorization_code", code, ...extras });

const refresh = (refreshToken: string | undefined): Promise<Response> =>
  post({ grant_type: "refresh_token", refresh_token: refreshToken ?? "" });

const refreshTokenOf = async (response: Response): Promise<string> => {
  const body: unknown = await response.json();
  expect(body).toMatchObject({ refresh_token: expect.stringContaining(CANARY.refreshToken) });
  return /"(canary-refresh-[0-9a-f-]{36})"/.exec(JSON.stringify(body))?.[1] ?? "";
};

describe("the authorization", () => {
  test("leads over login and consent to a code, with the state as it came", async () => {
    await start();

    const answer = await answerOf({ state: "a b&c" });

    expect(answer).toEqual({ code: expect.stringMatching(/^canary-code-[0-9a-f-]{36}$/), state: "a b&c" });
  });

  test("that the person denies says so", async () => {
    await start();

    expect(await answerOf({ state: "s" }, "deny")).toEqual({ error: "access_denied", state: "s" });
  });

  test("asks again after a wrong password", async () => {
    await start();

    const wrong = decide(address(), { user: { ...provider.user, password: "x" }, decision: "allow" });

    await expect(wrong).rejects.toThrow("E-mail or password is wrong.");
  });

  test.each([
    ["an unknown client", { client_id: "other" }],
    ["an address that is not registered", { redirect_uri: `${REDIRECT}/` }],
  ])("of %s ends on a page and is not sent back", async (_, change) => {
    await start();

    const response = await fetch(address(change), { redirect: "manual" });

    expect(response.status).toBe(400);
    expect(response.headers.get("location")).toBeNull();
  });

  test.each([
    ["another response type", { response_type: "token" }, "unsupported_response_type"],
    ["another scope", { scope: "openid" }, "invalid_scope"],
    ["a plain challenge", { code_challenge: CHALLENGE, code_challenge_method: "plain" }, "invalid_request"],
  ])("with %s is sent back at once", async (_, change, error) => {
    await start();

    expect(await answerOf({ state: "s", ...change })).toEqual({ error, state: "s" });
  });

  test("of a provider that ignores extras comes back without state, and needs no verifier", async () => {
    await start({ extras: "ignores" });

    const { code = "", ...others } = await answerOf({
      state: "s",
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
    });

    expect(others).toEqual({});
    expect((await exchange(code, { code_verifier: "another", redirect_uri: "another" })).status).toBe(200);
  });
});

describe("the exchange of a code", () => {
  test("gives tokens that are never cached", async () => {
    await start();
    const { code = "" } = await answerOf();

    const response = await exchange(code);

    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({
      access_token: expect.stringContaining(CANARY.accessToken),
      token_type: "Bearer",
      expires_in: 3_600,
      refresh_token: expect.stringContaining(CANARY.refreshToken),
      scope: "brandindex",
    });
  });

  const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
  test.each([
    [
      "the verifier and the address of the request",
      PKCE,
      { code_verifier: VERIFIER, redirect_uri: REDIRECT },
      200,
    ],
    ["no address", PKCE, { code_verifier: VERIFIER }, 200],
    ["another address", PKCE, { code_verifier: VERIFIER, redirect_uri: "http://127.0.0.1/" }, 400],
    ["another verifier", PKCE, { code_verifier: "w".repeat(43) }, 400],
    ["no verifier", PKCE, {}, 400],
    ["a verifier without a challenge", {}, { code_verifier: VERIFIER }, 400],
  ])("with %s: %o, %o → %i", async (_, asked, given, status) => {
    await start();
    const { code = "" } = await answerOf(asked);

    expect((await exchange(code, given)).status).toBe(status);
  });

  test("works once: the second time ends the tokens of the first", async () => {
    await start();
    const { code = "" } = await answerOf();
    const token = await refreshTokenOf(await exchange(code));

    expect((await exchange(code)).status).toBe(400);
    expect((await refresh(token)).status).toBe(400);
    expect(provider.counts).toMatchObject({ codeExchanges: 2, revokedFamilies: 1 });
  });

  test("is refused when the code has its age", async () => {
    await start({ codeLifetimeMs: 1_000 });
    const { code = "" } = await answerOf();

    clock.advance(1_000);
    const response = await exchange(code);

    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: "invalid_grant", error_description: CANARY.body });
  });
});

describe("the token endpoint", () => {
  test.each([
    ["a wrong secret", { client_secret: "x" }, 401, "invalid_client"],
    ["another client", { client_id: "x" }, 401, "invalid_client"],
    ["no code", { grant_type: "authorization_code" }, 400, "invalid_request"],
    ["no refresh token", { grant_type: "refresh_token" }, 400, "invalid_request"],
    ["an unknown code", { grant_type: "authorization_code", code: "x" }, 400, "invalid_grant"],
    ["an unknown refresh token", { grant_type: "refresh_token", refresh_token: "x" }, 400, "invalid_grant"],
    ["another grant", { grant_type: "password" }, 400, "unsupported_grant_type"],
  ])("refuses %s: %o → %i %s", async (_, form, status, error) => {
    await start();

    const response = await post(form);

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error });
  });

  test("takes a form by POST and nothing else", async () => {
    await start();
    const url = `${provider.url}/oauth/token`;
    const body = JSON.stringify({ client_id: "brand-client", client_secret: CANARY.clientSecret });

    expect((await fetch(url)).status).toBe(405);
    const headers = { "content-type": "application/json" };
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(401);
    expect((await fetch(`${provider.url}/elsewhere`)).status).toBe(404);
  });

  test("logs what it was sent", async () => {
    await start();

    await refresh("r");

    expect(provider.requests).toMatchObject([
      {
        n: 1,
        target: "refresh_token",
        method: "POST",
        path: "/oauth/token",
        parameters: {
          client_id: "brand-client",
          client_secret: CANARY.clientSecret,
          grant_type: "refresh_token",
          refresh_token: "r",
        },
        status: 400,
      },
    ]);
    provider.reset();
    expect(provider.counts.requests).toBe(0);
  });
});

describe("a refresh", () => {
  test("spends its token, and a spent one ends the family with all its access tokens", async () => {
    await start();
    const { accessToken, refreshToken } = provider.authorize();

    const next = await refreshTokenOf(await refresh(refreshToken));
    expect(provider.admits(accessToken)).toBe(true);
    expect((await refresh(refreshToken)).status).toBe(400);

    expect((await refresh(next)).status).toBe(400);
    expect(provider.admits(accessToken)).toBe(false);
    expect(provider.counts).toMatchObject({
      refreshes: 3,
      refreshesAccepted: 1,
      spentTokensSeen: 1,
      revokedFamilies: 1,
    });
  });

  test("takes a spent token within the time of grace, counted from its first use", async () => {
    await start({ refreshToken: { graceMs: 10_000 } });
    const { refreshToken } = provider.authorize();
    await refresh(refreshToken);

    clock.advance(6_000);
    const again = await refreshTokenOf(await refresh(refreshToken));
    clock.advance(4_000);

    expect((await refresh(refreshToken)).status).toBe(400);
    expect((await refresh(again)).status).toBe(400);
    expect(provider.counts.spentTokensSeen).toBe(2);
  });

  test("can refuse a spent token and leave the family alone", async () => {
    await start({ refreshToken: { revokesFamily: false } });
    const { refreshToken } = provider.authorize();
    const next = await refreshTokenOf(await refresh(refreshToken));

    expect((await refresh(refreshToken)).status).toBe(400);

    expect((await refresh(next)).status).toBe(200);
  });

  test.each([
    ["same", true],
    ["silent", false],
  ] as const)("with rotation %s keeps its token", async (rotation, isNamed) => {
    await start({ refreshToken: { rotation } });
    const { refreshToken = "" } = provider.authorize();

    const text = await (await refresh(refreshToken)).text();

    expect(text.includes(refreshToken)).toBe(isNamed);
    expect(text.includes("refresh_token")).toBe(isNamed);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  test("is refused when its token has its age, or the person took the authorization back", async () => {
    await start({ refreshToken: { lifetimeMs: 1_000 } });
    const old = provider.authorize();
    clock.advance(1_000);
    const young = provider.authorize();
    expect((await refresh(old.refreshToken)).status).toBe(400);

    provider.revokeAll();

    expect((await refresh(young.refreshToken)).status).toBe(400);
  });
});

describe("the service", () => {
  let service: Simulator;
  afterEach(() => service.stop());

  const status = async (token: string): Promise<number> =>
    (await fetch(`${service.url}/v1/events`, { headers: { authorization: `Bearer ${token}` } })).status;

  test("accepts an access token until its age, its requests, or its end", async () => {
    await start({ accessToken: { lifetimeMs: 1_000, maxRequests: 2 } });
    service = await Simulator.start({ events: makeEvents(1), bearer: provider });
    const [first, second, third] = [provider.authorize(), provider.authorize(), provider.authorize()];

    const used = [
      await status(first.accessToken),
      await status(first.accessToken),
      await status(first.accessToken),
    ];
    service.endSessions();
    const ended = await status(second.accessToken);
    const { accessToken } = provider.authorize();
    clock.advance(1_000);

    expect(used).toEqual([200, 200, 401]);
    expect([ended, await status(accessToken), await status(third.accessToken)]).toEqual([401, 401, 401]);
    expect((await refresh(second.refreshToken)).status).toBe(200);
  });

  test("knows an access token some time after it was issued", async () => {
    await start({ accessToken: { knownAfterMs: 500 } });
    service = await Simulator.start({ events: makeEvents(1), bearer: provider });
    const { accessToken } = provider.authorize();

    clock.advance(499);
    const before = await status(accessToken);
    clock.advance(1);

    expect([before, await status(accessToken)]).toEqual([401, 200]);
  });

  test("ends an access token at a request that a fault names, and refuses an account without OAuth", async () => {
    await start();
    service = await Simulator.start({
      events: makeEvents(1),
      bearer: provider,
      faults: [{ match: { path: "list", nth: 2 }, fault: { kind: "end-sessions" } }],
    });
    const { accessToken } = provider.authorize();
    expect([await status(accessToken), await status(accessToken)]).toEqual([200, 401]);

    service.configure({ account: { methods: ["session"] } });

    expect(await status(provider.authorize().accessToken)).toBe(401);
  });

  test("ends older access tokens with a new one, if only one may be", async () => {
    await start({ accessToken: { exclusive: true } });
    service = await Simulator.start({ events: makeEvents(1), bearer: provider });
    const { accessToken, refreshToken } = provider.authorize();

    await refresh(refreshToken);

    expect(await status(accessToken)).toBe(401);
  });
});

describe("a token response", () => {
  const member = async (options: IdentityOptions, name: string): Promise<unknown> => {
    await start(options);
    const body: unknown = await (await refresh(provider.authorize().refreshToken)).json();
    return typeof body === "object" && body !== null
      ? Object.entries(body).find(([key]) => key === name)?.[1]
      : body;
  };

  test.each([
    ["text", "60"],
    ["number", 60],
    ["absent", undefined],
  ] as const)("states its lifetime as %s", async (expiresIn, expected) => {
    const options = { tokenResponse: { expiresIn }, accessToken: { lifetimeMs: 60_000 } };

    expect(await member(options, "expires_in")).toBe(expected);
  });

  test.each(["access_token", "token_type", "refresh_token"] as const)("can be without %s", async (name) => {
    expect(await member({ tokenResponse: { without: [name] } }, name)).toBeUndefined();
  });

  test("can have an id_token, another token type, and any body", async () => {
    expect(await member({ tokenResponse: { withIdToken: true } }, "id_token")).toMatch(
      /^[\w-]+\.[\w-]+\.[\w-]+$/,
    );
    await provider.stop();
    expect(await member({ tokenResponse: { tokenType: "mac" } }, "token_type")).toBe("mac");
    await provider.stop();
    expect(await member({ tokenResponse: { raw: () => "17" } }, "")).toBe(17);
  });
});

describe("a fault", () => {
  const failed = async (
    fault: IdentityFault,
  ): Promise<{ readonly first: string; readonly second: number }> => {
    await start({ faults: [{ match: { target: "refresh_token" }, fault }] });
    const { refreshToken } = provider.authorize();
    const first = await refresh(refreshToken)
      .then(async (response) => `${response.status} ${(await response.text()).slice(0, 9)}`)
      .catch(() => "no response");
    return { first, second: (await refresh(refreshToken)).status };
  };

  test.each([
    ["reset-before", { kind: "reset-before" }, "no response", 200],
    ["reset", { kind: "reset" }, "no response", 400],
    ["truncate", { kind: "truncate" }, "no response", 400],
    ["html", { kind: "html" }, "200 <!doctype", 200],
    ["status", { kind: "status", status: 503 }, '503 {"message', 200],
    ["error", { kind: "error", error: "invalid_grant" }, '400 {"error":', 200],
  ] as const)("%s: a token is spent only where the rotation took effect", async (_, fault, first, second) => {
    expect(await failed(fault)).toEqual({ first, second });
  });

  test("hits the requests that its rule names", async () => {
    await start({
      faults: [{ match: { nth: 2, times: 2 }, fault: { kind: "status", status: 500, body: "x" } }],
    });
    const statuses = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await refresh("r")).status);

    expect(statuses).toEqual([400, 500, 500, 400]);
  });

  test("slows: the response waits by the clock, and requests in flight are counted", async () => {
    await start({ latencyMs: 5_000 });
    const both = [refresh("a"), refresh("b")];

    await expect.poll(() => clock.sleeping, { interval: 1 }).toBe(2);
    clock.advance(5_000);
    await Promise.all(both);

    expect(provider.counts.maxTokenRequestsInFlight).toBe(2);
  });
});
