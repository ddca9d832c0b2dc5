// What each answer of the identity provider means for a renewal, and how many requests it costs.

import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { OAuthCredentials } from "../../../../../lambdas/job/credentials/credentials.ts";
import { type TokenStore, tokensText } from "../../../../../lambdas/job/credentials/tokens/token-store.ts";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import type { Clock } from "../../../../../lambdas/job/runtime/clock.ts";
import { storeRotated } from "../../../../../lambdas/job/service/auth/oauth/token-rotation.ts";
import { CANARY } from "../../../../simulator/account.ts";
import type { IdentityFault } from "../../../../simulator/identity/identity-faults.ts";
import type { IdentityChange } from "../../../../simulator/identity/identity-settings.ts";
import { ManualClock } from "../../../../simulator/manual-clock.ts";
import { said as saidText, told } from "../../../../words/said.ts";
import {
  MemoryTokenStore,
  sampleTokens,
  TokenPlace,
} from "../../../credentials/tokens/memory-token-store.ts";
import { errorOf, said } from "../../connection.ts";
import { AUTHORIZE } from "./authorized.ts";
import { RotationWorld } from "./rotation-world.ts";

const always = (fault: IdentityFault): IdentityChange => ({
  faults: [{ match: { target: "refresh_token", times: Infinity }, fault }],
});
const once = (fault: IdentityFault): IdentityChange => ({
  faults: [{ match: { target: "refresh_token" }, fault }],
});

const TOO_BUSY = new SyncError("STORE_FAILED", "too busy");
const DEFECT = new TypeError("a defect");

const expiresIn = (value: string): IdentityChange => ({
  tokenResponse: { raw: (body) => body.replace(/"expires_in":\d+/, `"expires_in":${value}`) },
});

describe("a renewal", () => {
  it("sends exactly the interface's parameters as a form", async () => {
    await using world = await RotationWorld.start();
    const refreshToken = world.authorized.place.tokens?.refresh_token;

    await world.renewOnce();

    const { provider } = world.authorized;
    expect(provider.requests.map(({ parameters }) => parameters)).toEqual([
      {
        client_id: "brand-client",
        client_secret: CANARY.clientSecret,
        grant_type: "refresh_token",
        refresh_token: refreshToken,
      },
    ]);
    expect(provider.requests[0]?.headers["content-type"]).toMatch(/^application\/x-www-form-urlencoded/);
    expect(provider.requests[0]?.headers["authorization"]).toBeUndefined();
  });

  it("stores the new tokens before they are given out, and is counted", async () => {
    await using world = await RotationWorld.start({ tokenResponse: { withIdToken: true } });
    const rotation = world.process();
    await rotation.read();
    const versions = [rotation.version];

    const { tokens, isRenewed } = await world.renewOnce(rotation);
    versions.push(rotation.version);

    expect(world.authorized.place.tokens).toEqual(tokens);
    expect(isRenewed).toBe(true);
    expect(versions).toEqual(["v1", "v2"]);
    expect(world.counts).toMatchObject({ logins: 1, requests: 1, retries: 0 });
    expect(await world.isWhole()).toBe(true);
  });

  const EXPIRED = always({ kind: "error", status: 400, error: "invalid_grant" });
  it.each<readonly [what: string, identity: IdentityChange, failure: Error, rejects: unknown]>([
    ["brings new tokens", {}, TOO_BUSY, undefined],
    ["says why it failed", EXPIRED, TOO_BUSY, { code: "AUTHORIZATION_EXPIRED" }],
    ["does not hide a defect", {}, DEFECT, DEFECT],
  ])("%s where the claim cannot be released", async (_, identity, failure, rejects) => {
    await using world = await RotationWorld.start(identity);
    const release = (): Promise<void> => Promise.reject(failure);
    const store = world.store({ claim: async () => ({ isHeld: true, release }) });

    const outcome = await world.renewOnce(world.process({ store })).then(
      ({ isRenewed }) => ({ isRenewed }),
      (error: unknown) => ({ error }),
    );

    expect(outcome).toMatchObject(rejects === undefined ? { isRenewed: true } : { error: rejects });
  });

  it("sends no request once its claim is over", async () => {
    await using world = await RotationWorld.start();
    const store = world.store({ claim: async () => ({ isHeld: false, release: async () => undefined }) });

    const error = await errorOf(world.renewOnce(world.process({ store })));

    expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(world.authorized.provider.requests).toEqual([]);
  });

  it.each([
    ["the same refresh token again", { refreshToken: { rotation: "same" } }],
    ["no refresh token", { refreshToken: { rotation: "silent" } }],
    [
      "an empty refresh token",
      {
        refreshToken: { rotation: "same" },
        tokenResponse: {
          raw: (body: string) => body.replace(/"refresh_token":"[^"]+"/, '"refresh_token":""'),
        },
      },
    ],
  ] as const)("keeps the refresh token where the answer has %s", async (_, identity) => {
    await using world = await RotationWorld.start(identity);
    const before = world.authorized.place.tokens;

    const { tokens } = await world.renewOnce();

    expect(tokens.refresh_token).toBe(before?.refresh_token);
    expect(tokens.access_token).not.toBe(before?.access_token);
  });

  it.each([
    ["a number", {}, "2026-11-21T07:00:00.000Z"],
    ["a text", { tokenResponse: { expiresIn: "text" } }, "2026-11-21T07:00:00.000Z"],
    ["absent", { tokenResponse: { expiresIn: "absent" } }, undefined],
    ["no number", expiresIn('"soon"'), undefined],
    ["null", expiresIn("null"), undefined],
    ["beyond every calendar", expiresIn("1e300"), undefined],
  ] as const)("knows the end of the access token where expires_in is %s: %s", async (_, identity, end) => {
    await using world = await RotationWorld.start(identity);

    const { tokens } = await world.renewOnce();

    expect(tokens.expires_at).toBe(end);
  });
});

describe("a renewal whose answer does not come", () => {
  it.each([
    ["is reset before it took effect", { kind: "reset-before" }],
    ["has status 500", { kind: "status", status: 500 }],
    ["has status 503", { kind: "status", status: 503 }],
  ] as const)("is repeated with the same token: it %s", async (_, fault) => {
    await using world = await RotationWorld.start(once(fault));

    await world.renewOnce();

    expect(world.authorized.provider.counts).toMatchObject({ refreshes: 2, spentTokensSeen: 0 });
    expect(world.counts).toMatchObject({ logins: 1, requests: 2, retries: 1 });
    expect(await world.isWhole()).toBe(true);
  });

  it.each([
    ["is reset", { kind: "reset" }],
    ["breaks off", { kind: "cut" }],
  ] as const)("although it took effect is repeated within the time of grace: it %s", async (_, fault) => {
    await using world = await RotationWorld.start({ ...once(fault), refreshToken: { graceMs: 10_000 } });

    await world.renewOnce();

    expect(world.authorized.provider.counts).toMatchObject({ refreshes: 2, revokedFamilies: 0 });
    expect(await world.isWhole()).toBe(true);
  });

  it("although it took effect, without a time of grace, ends as AUTHORIZATION_EXPIRED with the command", async () => {
    await using world = await RotationWorld.start(once({ kind: "reset" }));

    const error = await errorOf(world.renewOnce());

    expect(told(error)).toMatchObject({
      code: "AUTHORIZATION_EXPIRED",
      message: expect.stringContaining(AUTHORIZE),
    });
    expect(world.authorized.provider.counts.refreshes).toBe(2);
  });

  it.each([
    ["reset", { kind: "reset-before" }],
    ["500", { kind: "status", status: 500 }],
  ] as const)("is SERVICE_UNAVAILABLE after three requests within ten seconds (%s)", async (_, fault) => {
    await using world = await RotationWorld.start(always(fault));
    const beganAtMs = world.clock.now();
    const sentAfterMs: number[] = [];
    const transport = world.sending({ before: () => sentAfterMs.push(world.clock.now() - beganAtMs) });

    const error = await errorOf(world.renewOnce(world.process({ transport })));

    expect(told(error)).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.stringMatching(/auth-url|provider/),
    });
    expect(world.authorized.provider.counts.refreshes).toBe(3);
    expect(sentAfterMs).toEqual([0, 500, 2_500]);
    expect(world.authorized.place.claim).toBeUndefined();
  });

  it.each([
    ["503", { kind: "status", status: 503 }, "SERVICE_UNAVAILABLE", [0, 500, 2_500, 6_500, 14_500, 30_500]],
    [
      "429 for 5 s",
      { kind: "status", status: 429, headers: { "retry-after": "5" } },
      "THROTTLED",
      [0, 5_000, 10_000, 15_000, 23_000, 39_000],
    ],
  ] as const)(
    "because it was put off is asked for six times, as any request (%s)",
    async (_, fault, code, at) => {
      await using world = await RotationWorld.start(always(fault));
      const beganAtMs = world.clock.now();
      const sentAfterMs: number[] = [];
      const transport = world.sending({ before: () => sentAfterMs.push(world.clock.now() - beganAtMs) });

      const error = await errorOf(world.renewOnce(world.process({ transport })));

      expect(error).toMatchObject({ code });
      expect(sentAfterMs).toEqual(at);
      expect(world.counts).toMatchObject({ logins: 1, requests: 6, retries: 5 });
      expect(world.authorized.provider.counts.spentTokensSeen).toBe(0);
      expect(world.authorized.place.claim).toBeUndefined();
    },
  );

  it("but a web page does, is UNEXPECTED_RESPONSE after three requests", async () => {
    await using world = await RotationWorld.start(always({ kind: "html" }));

    const error = await errorOf(world.renewOnce());

    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining("status 200 and a web page"),
    });
    expect(world.authorized.provider.counts.refreshes).toBe(3);
    expect(said(error, world.log)).not.toMatch(/canary|undefined/i);
  });

  it.each([
    [{ body: "" }, "UNEXPECTED_RESPONSE", "with status 200 and an empty body, so there is no"],
    [
      { body: "{}", headers: { "content-encoding": "deflate" } },
      "UNEXPECTED_RESPONSE",
      "and a body in the content encoding deflate (accepted: gzip, br), so there is no usable access token. Check that --auth-url",
    ],
    [
      { body: "{}", headers: { "content-encoding": "gzip" } },
      "SERVICE_UNAVAILABLE",
      "and is not. Look for a proxy between here and the identity provider that changes bodies.",
    ],
  ])("but %j does, says what came", async (answer, code, says) => {
    await using world = await RotationWorld.start(always({ kind: "status", status: 200, ...answer }));

    const error = await errorOf(world.renewOnce());

    expect(told(error)).toMatchObject({ code, message: expect.stringContaining(says) });
    expect(world.authorized.provider.counts.refreshes).toBe(3);
  });

  it.each([
    { ms: 9_500, refreshes: 2 },
    { ms: 9_501, refreshes: 1 },
  ])("in $ms ms is sent $refreshes times: in ten seconds, not later", async ({ ms, refreshes }) => {
    await using world = await RotationWorld.start(always({ kind: "reset-before" }));
    const transport = world.sending({ before: () => world.clock.advance(ms) });

    const error = await errorOf(world.renewOnce(world.process({ transport })));

    expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(world.authorized.provider.counts.refreshes).toBe(refreshes);
  });
});

describe("a renewal that is refused", () => {
  it.each([
    ["invalid_grant", always({ kind: "error", error: "invalid_grant" }), "AUTHORIZATION_EXPIRED", AUTHORIZE],
    [
      "invalid_client",
      { client: { secret: "another" } },
      "CREDENTIALS_INVALID",
      "client_id and client_secret",
    ],
    ["401 without a name", always({ kind: "status", status: 401 }), "CREDENTIALS_INVALID", "status 401"],
    [
      "unauthorized_client",
      always({ kind: "error", error: "unauthorized_client" }),
      "CREDENTIALS_INVALID",
      "client_id",
    ],
    [
      "unsupported_grant_type",
      always({ kind: "error", error: "unsupported_grant_type" }),
      "UNEXPECTED_RESPONSE",
      "an error (unsupported_grant_type)",
    ],
    [
      "an unknown name",
      always({ kind: "error", error: `${CANARY.body}` }),
      "UNEXPECTED_RESPONSE",
      "nothing that OAuth 2.0 defines",
    ],
    ["429", always({ kind: "status", status: 429 }), "THROTTLED", "Run again later"],
    [
      "429 for more than a quarter of an hour",
      always({ kind: "status", status: 429, headers: { "retry-after": "901" } }),
      "THROTTLED",
      "Run again later",
    ],
    ["404", always({ kind: "status", status: 404 }), "UNEXPECTED_RESPONSE", "Check that --auth-url"],
    [
      "a 201 without tokens",
      always({ kind: "status", status: 201, body: "{}" }),
      "UNEXPECTED_RESPONSE",
      "status 201 and a body that has no access_token",
    ],
    [
      "a redirect",
      always({ kind: "status", status: 302, headers: { location: `https://evil.example/?${CANARY.body}` } }),
      "UNEXPECTED_RESPONSE",
      "a redirect to https://evil.example, which is not followed",
    ],
  ] as const)("by %s costs one request and says what to do", async (_, identity, code, says) => {
    await using world = await RotationWorld.start();
    world.authorized.provider.configure(identity);
    const credentials = { ...world.authorized.provider.credentials, client_secret: CANARY.clientSecret };

    const error = await errorOf(world.renewOnce(world.process({ credentials })));

    expect(told(error)).toMatchObject({ code, message: expect.stringContaining(says) });
    expect(world.authorized.provider.counts.refreshes).toBe(1);
    expect(world.authorized.place.writes).toBe(1);
    expect(said(error, world.log)).not.toMatch(/canary|undefined/i);
  });

  it.each([["access_token"], ["token_type"]] as const)(
    "by an answer without %s keeps the refresh token that it has, so the next renewal works",
    async (member) => {
      await using world = await RotationWorld.start({ tokenResponse: { without: [member] } });

      const error = await errorOf(world.renewOnce(world.process({ store: slow(world) })));
      expect(world.authorized.place.writes).toBe(2);
      world.authorized.provider.configure({ tokenResponse: {} });
      const next = await world.renewOnce();

      expect(error).toMatchObject({
        code: "UNEXPECTED_RESPONSE",
        message: expect.stringContaining(`has no ${member}`),
      });
      expect(said(error, world.log)).not.toMatch(/canary|undefined/i);
      // Its refresh token is good: no person has to authorize.
      expect(saidText(error)).not.toContain(AUTHORIZE);
      expect(next.isRenewed).toBe(true);
      expect(world.authorized.provider.counts.spentTokensSeen).toBe(0);
    },
  );

  it("by an answer without any token leaves what is stored", async () => {
    await using world = await RotationWorld.start({
      tokenResponse: { without: ["access_token", "refresh_token"] },
    });

    const error = await errorOf(world.renewOnce());

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
    expect(world.authorized.place.writes).toBe(1);
  });

  it("is sent three times at most, however often the client's secret changes", async () => {
    await using world = await RotationWorld.start({ client: { secret: "another" } });
    let readings = 0;
    const readAgain = async (): Promise<OAuthCredentials> => {
      readings += 1;
      return { ...world.authorized.provider.credentials, client_secret: `secret ${readings}` };
    };
    const credentials = { ...world.authorized.provider.credentials, client_secret: "secret 0" };

    const error = await errorOf(world.renewOnce(world.process({ credentials, readAgain })));

    expect(error).toMatchObject({ code: "CREDENTIALS_INVALID" });
    expect(world.authorized.provider.counts.refreshes).toBe(3);
  });

  it("uses the tokens that a person has stored meanwhile", async () => {
    await using world = await RotationWorld.start();
    const { authorized } = world;
    authorized.provider.revokeAll();
    const transport = world.sending({ after: () => authorized.authorizeAgain() });

    const { tokens, isRenewed } = await world.renewOnce(world.process({ transport }));

    expect(isRenewed).toBe(false);
    expect(authorized.provider.admits(tokens.access_token)).toBe(true);
  });

  it("of tokens of another client says so without a request", async () => {
    await using world = await RotationWorld.start();
    const credentials = { ...world.authorized.provider.credentials, client_id: "another" };

    const error = await errorOf(world.renewOnce(world.process({ credentials })));

    expect(error).toMatchObject({
      code: "AUTHORIZATION_EXPIRED",
      message: expect.stringContaining("belong to another client_id"),
    });
    expect(world.authorized.provider.requests).toEqual([]);
  });

  it.each([
    ["nothing", undefined, "There are no tokens in the place in memory yet"],
    ["something else", "{}", "something other than tokens"],
  ])("because %s is stored names the place and the command", async (_, text, says) => {
    await using world = await RotationWorld.start();
    world.authorized.place.text = text;

    const error = await errorOf(world.renewOnce());

    expect(error).toMatchObject({ code: "AUTHORIZATION_EXPIRED", message: expect.stringContaining(says) });
    expect(saidText(error)).toContain(AUTHORIZE);
  });
});

describe("several processes", () => {
  it("that meet a refused token at once send one request, and all get the new tokens", async () => {
    await using world = await RotationWorld.start();
    const processes = Array.from({ length: 6 }, () => world.process());
    const spent = await Promise.all(processes.map((each) => each.read()));

    const renewed = await Promise.all(
      processes.map((each, n) => each.renew(spent[n] ?? unreachable(), new AbortController().signal)),
    );

    expect(new Set(renewed.map(({ tokens }) => tokens.access_token)).size).toBe(1);
    expect(renewed.filter(({ isRenewed }) => isRenewed)).toHaveLength(1);
    expect(world.authorized.provider.counts).toMatchObject({ refreshes: 1, maxTokenRequestsInFlight: 1 });
  });

  it("of which one finishes between the reading and the claim of another send one request in all", async () => {
    await using world = await RotationWorld.start();
    // A place where the claim cannot be bound to the version, as for a moment in Secrets Manager.
    const late = world.store({
      claim: async () => {
        await world.renewOnce();
        return world.store().claim(world.authorized.place.version ?? "");
      },
    });

    const { tokens, isRenewed } = await world.renewOnce(world.process({ store: late }));

    expect(isRenewed).toBe(false);
    expect(tokens).toEqual(world.authorized.place.tokens);
    expect(world.authorized.provider.counts).toMatchObject({ refreshes: 1, spentTokensSeen: 0 });
  });

  it("wait no longer than a minute and a half for one that hangs", async () => {
    await using world = await RotationWorld.start();
    const { place } = world.authorized;
    const beganAtMs = world.clock.now();
    const rotation = world.process();
    const tokens = await rotation.read();
    const renewing = rotation.renew(tokens, new AbortController().signal);
    place.claim = { atMs: Infinity };

    const error = await errorOf(renewing);

    expect(told(error)).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.stringContaining("End it if it hangs"),
    });
    expect(world.clock.now() - beganAtMs).toBe(90_000);
    expect(world.authorized.provider.requests).toEqual([]);
  });
});

it.each<readonly [when: string, claim: { readonly atMs: number } | undefined]>([
  ["before it is sent", undefined],
  ["while another process has the tokens", { atMs: Infinity }],
])("a renewal of a run that is stopped %s sends nothing", async (_, claim) => {
  await using world = await RotationWorld.start();
  world.authorized.place.claim = claim;
  const stop = new AbortController();
  const rotation = world.process();
  const tokens = await rotation.read();
  if (claim === undefined) stop.abort(new Error("stop"));

  const renewing = rotation.renew(tokens, stop.signal);
  stop.abort(new Error("stop"));

  await expect(renewing).rejects.toThrow("stop");
  expect(world.authorized.provider.requests).toEqual([]);
});

function unreachable(): never {
  throw new Error("unreachable");
}

const SPENT = sampleTokens("spent");
const ROTATED = sampleTokens("rotated");
const AUTHORIZED = sampleTokens("authorized");
const patient = { sleep: async () => undefined };

/** A write takes as long as one over a network. */
function slow(world: RotationWorld): TokenStore {
  const store = world.store();
  return world.store({
    replace: async (version, tokens) => {
      await setImmediate();
      return store.replace(version, tokens);
    },
  });
}

class FailingStore extends MemoryTokenStore {
  failures: number;
  readonly #error: Error;

  constructor(place: TokenPlace, failures = 0, error: Error = TOO_BUSY) {
    super(place, new ManualClock(0));
    this.failures = failures;
    this.#error = error;
  }

  override async replace(...given: Parameters<MemoryTokenStore["replace"]>): Promise<string | undefined> {
    if (this.failures === 0) return super.replace(...given);
    this.failures -= 1;
    throw this.#error;
  }
}

/** Where `SPENT` was read, and what a store that was changed since then holds in the end. */
const storing = (changed?: string) => {
  const place = new TokenPlace(SPENT);
  const before = { version: place.version ?? "", tokens: SPENT };
  if (changed !== undefined) place.store(changed);
  const store = (store: MemoryTokenStore = new FailingStore(place), clock: Pick<Clock, "sleep"> = patient) =>
    storeRotated({ store, clock }, before, ROTATED);
  return { place, store };
};

describe("a store", () => {
  it.each([0, 1, 4])("that fails %i times has the tokens in the end", async (failures) => {
    const { place, store } = storing();
    const failing = new FailingStore(place, failures);
    const failuresAt: string[] = [];
    const clock = {
      sleep: async (ms: number) => {
        await setImmediate();
        failuresAt.push(`${ms} ms after ${failures - failing.failures}`);
      },
    };

    const kept = await store(failing, clock);

    expect(failuresAt).toEqual(Array.from({ length: failures }, (_, n) => `1000 ms after ${n + 1}`));
    expect(kept).toEqual({ version: place.version, tokens: ROTATED });
    expect(place.tokens).toEqual(ROTATED);
  });

  it.each([
    ["goes on failing ends the renewal with its own error, after five attempts", TOO_BUSY, 0],
    ["has a defect ends it at once", DEFECT, 4],
  ])("that %s", async (_, error, left) => {
    const { place, store } = storing();
    const failing = new FailingStore(place, 5, error);

    await expect(store(failing)).rejects.toBe(error);

    expect(failing.failures).toBe(left);
    expect(place.tokens).toEqual(SPENT);
  });

  it("that others change all the time ends the renewal after five attempts", async () => {
    const { place, store } = storing();
    let attempts = 0;
    const changing = new MemoryTokenStore(place, new ManualClock(0));
    changing.replace = async () => {
      attempts += 1;
      return undefined;
    };

    const error = await errorOf(store(changing));

    expect(error).toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("other processes changed it 5 times in the meantime"),
    });
    expect(attempts).toBe(5);
  });

  it.each([
    ["the spent tokens as another version", tokensText(SPENT), ROTATED],
    ["nothing of use", "{}", ROTATED],
    ["the tokens of another authorization, which are kept and used", tokensText(AUTHORIZED), AUTHORIZED],
  ])("that holds %s by then has the right ones in the end", async (_, text, expected) => {
    const { place, store } = storing(text);

    const kept = await store();

    expect(kept.tokens).toEqual(expected);
    expect(place.tokens).toEqual(expected);
  });

  it("whose file was deleted meanwhile gets the tokens", async () => {
    const { place, store } = storing();
    place.text = undefined;

    await store();

    expect(place.tokens).toEqual(ROTATED);
  });
});
