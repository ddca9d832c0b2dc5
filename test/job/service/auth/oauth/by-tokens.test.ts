// When an access token is renewed: shortly before its end, after a refusal, once.

import { setTimeout as realSleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { parseTokens, tokensText } from "../../../../../lambdas/job/credentials/tokens/token-store.ts";
import { isNearItsEnd } from "../../../../../lambdas/job/service/auth/oauth/by-tokens.ts";
import {
  type AuthenticationMethod,
  Authenticator,
  type Authorization,
} from "../../../../../lambdas/job/service/requests/authenticator.ts";
import { errorOf } from "../../connection.ts";
import { RotationWorld } from "./rotation-world.ts";

const BASE = new URL("https://api.example.com/");
const EVENTS = new URL("https://api.example.com/v1/events");
const ACCEPTED = { status: 200, headers: new Map() };
const REFUSED = { status: 401, headers: new Map() };

const tokenOf = (authorization: Authorization | undefined): string | undefined =>
  authorization?.headers(EVENTS)["authorization"];

interface Authenticating extends AsyncDisposable {
  readonly world: RotationWorld;
  readonly method: AuthenticationMethod;
  readonly authenticator: Authenticator;
}

/** @param seconds how long the stored access token is valid from now on; undefined: unknown */
async function authenticating(seconds?: number, lifetimeSeconds = 3_600): Promise<Authenticating> {
  const world = await RotationWorld.start({ accessToken: { lifetimeMs: lifetimeSeconds * 1_000 } });
  const { place } = world.authorized;
  const tokens = parseTokens(place.text ?? "");
  if (tokens && seconds !== undefined) {
    const nowMs = world.clock.now();
    const obtained_at = new Date(nowMs + (seconds - lifetimeSeconds) * 1_000).toISOString();
    const expires_at = new Date(nowMs + seconds * 1_000).toISOString();
    place.store(tokensText({ ...tokens, obtained_at, expires_at }));
  }
  const method = world.method();
  const authenticator = new Authenticator(BASE, method, { clock: world.clock, logger: world.log });
  return { world, method, authenticator, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe("an access token", () => {
  it.each([
    { lifetime: 3_600, left: 61, near: false },
    { lifetime: 3_600, left: 60, near: true },
    { lifetime: 3_600, left: -10_000, near: true },
    { lifetime: 100, left: 11, near: false },
    { lifetime: 100, left: 10, near: true },
    { lifetime: 1, left: 0.2, near: false },
  ])("of $lifetime s with $left s left is near its end: $near", ({ lifetime, left, near }) => {
    const endMs = Date.UTC(2026, 10, 21, 7);
    const tokens = {
      obtained_at: new Date(endMs - lifetime * 1_000).toISOString(),
      expires_at: new Date(endMs).toISOString(),
    };

    expect(isNearItsEnd(tokens, endMs - left * 1_000)).toBe(near);
  });

  it("is used while it is valid, and only at its own origin", async () => {
    await using given = await authenticating(600);
    const { world, authenticator } = given;

    const authorization = await authenticator.authorize();

    expect(tokenOf(authorization)).toBe(`Bearer ${world.authorized.place.tokens?.access_token}`);
    const others = ["http://api.example.com/", "https://api.example.com:8443/", "https://example.com/"];
    expect(others.map((url) => authorization.headers(new URL(url)))).toEqual([{}, {}, {}]);
    expect(world.authorized.provider.requests).toEqual([]);
  });

  it("that is near its end is renewed before the first request", async () => {
    await using given = await authenticating(30);
    const { world, authenticator } = given;
    const before = world.authorized.place.tokens?.access_token;

    const authorization = await authenticator.authorize();

    expect(tokenOf(authorization)).not.toContain(before);
    expect(world.authorized.provider.counts.refreshes).toBe(1);
  });

  it("that comes near its end between two requests is renewed once for all of them, without a refusal", async () => {
    await using given = await authenticating(600);
    const { world, authenticator } = given;
    await (await authenticator.authorize()).settle(ACCEPTED);
    const waiting = await authenticator.authorize();

    world.clock.advance(541_000);
    const isStale = !waiting.isCurrent;
    await waiting.settle();
    const trial = await authenticator.authorize();
    const others = [authenticator.authorize(), authenticator.authorize()];
    await trial.settle(ACCEPTED);
    const tokens = [trial, ...(await Promise.all(others))].map(tokenOf);

    expect(isStale).toBe(true);
    expect(new Set(tokens).size).toBe(1);
    expect(world.authorized.provider.counts.refreshes).toBe(1);
  });

  it("that was renewed is tried again after 1 s and 3 s before the run ends as UNAUTHENTICATED", async () => {
    await using given = await authenticating();
    const { world, authenticator } = given;
    const used: { readonly token: string | undefined; readonly atMs: number }[] = [];
    const beganAtMs = world.clock.now();
    let authorization: Authorization | undefined = await authenticator.authorize();
    let error: unknown;

    while (authorization !== undefined) {
      used.push({ token: tokenOf(authorization), atMs: world.clock.now() - beganAtMs });
      const next: Promise<Authorization | undefined> = Promise.resolve(authorization.settle(REFUSED));
      authorization = await next.catch((reason: unknown) => {
        error = reason;
        return undefined;
      });
    }

    const [stored, renewed] = [used[0]?.token, `Bearer ${world.authorized.place.tokens?.access_token}`];
    expect(used).toEqual([
      { token: stored, atMs: 0 },
      { token: renewed, atMs: 0 },
      { token: renewed, atMs: 1_000 },
      { token: renewed, atMs: 4_000 },
    ]);
    expect(stored).not.toBe(renewed);
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", message: expect.stringContaining("--auth-url") });
    expect(await errorOf(authenticator.authorize())).toBe(error);
    expect(world.authorized.provider.counts.refreshes).toBe(1);
  });

  it("that another process renewed is tried again too, before it is renewed", async () => {
    await using given = await authenticating();
    const { world, authenticator } = given;
    const first = await authenticator.authorize();
    await world.renewOnce();
    const taken = await first.settle(REFUSED);
    const beganAtMs = world.clock.now();

    const again = await taken?.settle(REFUSED);

    expect([tokenOf(again), world.clock.now() - beganAtMs]).toEqual([tokenOf(taken), 1_000]);
    expect(world.authorized.provider.counts.refreshes).toBe(1);
  });

  it("that ends while it is tried again is not renewed once more", async () => {
    await using given = await authenticating(0, 3);
    const { authenticator, world } = given;
    let authorization: Authorization | undefined = await authenticator.authorize();

    for (let n = 0; n < 2; n += 1) authorization = await authorization?.settle(REFUSED);
    const error = await errorOf(Promise.resolve(authorization?.settle(REFUSED)));

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(world.authorized.provider.counts.refreshes).toBe(1);
  });

  it("that ended while its first request waited for permission is renewed again, three times at most", async () => {
    await using given = await authenticating(0, 10);
    const { world, authenticator } = given;
    let authorization: Authorization | undefined = await authenticator.authorize();
    let error: unknown;

    for (let n = 0; n < 10 && error === undefined; n += 1) {
      world.clock.advance(10_000);
      const next: Promise<Authorization | undefined> =
        authorization?.settle(REFUSED) ?? Promise.resolve(undefined);
      authorization = await next.catch((reason: unknown) => {
        error = reason;
        return undefined;
      });
    }

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(world.authorized.provider.counts.refreshes).toBe(3);
  });

  it("that another process has renewed is used without a request", async () => {
    await using given = await authenticating();
    const { world, authenticator } = given;
    const first = await authenticator.authorize();
    const { tokens } = await world.renewOnce();

    const renewed = await first.settle(REFUSED);

    expect(tokenOf(renewed)).toBe(`Bearer ${tokens.access_token}`);
    expect(world.authorized.provider.counts.refreshes).toBe(1);
  });

  it("whose late refusal comes after the renewal causes none", async () => {
    await using given = await authenticating();
    const { world, authenticator } = given;
    await (await authenticator.authorize()).settle(ACCEPTED);
    const [early, late] = await Promise.all([authenticator.authorize(), authenticator.authorize()]);

    const renewed = await early.settle(REFUSED);
    await renewed?.settle(ACCEPTED);
    const again = await late.settle(REFUSED);

    expect(tokenOf(again)).toBe(tokenOf(renewed));
    expect(world.authorized.provider.counts.refreshes).toBe(1);
  });
});

describe("a run that is stopped", () => {
  it("stores the tokens of a renewal whose request was sent, before its connections are closed", async () => {
    await using world = await RotationWorld.start();
    const { provider, place } = world.authorized;
    const sent = Promise.withResolvers<void>();
    const transport = world.sending({
      after: async () => {
        sent.resolve();
        await realSleep(20);
      },
    });
    const method = world.method(transport);
    const authenticator = new Authenticator(BASE, method, { clock: world.clock, logger: world.log });
    const stop = new AbortController();
    const first = await authenticator.authorize();

    const renewal = first.settle(REFUSED, stop.signal);
    await sent.promise;
    stop.abort(new Error("stop"));
    const error = await errorOf(Promise.resolve(renewal));
    await method.close?.();

    expect(String(error)).toContain("stop");
    expect(place.writes).toBe(2);
    expect(provider.admits(place.tokens?.access_token ?? "")).toBe(true);
  });

  it("leaves its renewal to the next request, which sends none of its own", async () => {
    await using world = await RotationWorld.start();
    const sent = Promise.withResolvers<void>();
    const transport = world.sending({
      before: async () => {
        sent.resolve();
        await realSleep(20);
      },
    });
    const method = world.method(transport);
    const authenticator = new Authenticator(BASE, method, { clock: world.clock, logger: world.log });
    const stop = new AbortController();
    const first = await authenticator.authorize();
    const renewal = first.settle(REFUSED, stop.signal)?.catch(() => undefined);
    await sent.promise;

    stop.abort(new Error("stop"));
    await renewal;
    const next = await authenticator.authorize();

    expect(tokenOf(next)).toBe(`Bearer ${world.authorized.place.tokens?.access_token}`);
    expect(world.authorized.provider.counts.refreshes).toBe(1);
  });

  it("does not wait for the renewal of another process", async () => {
    await using given = await authenticating();
    const { world, method, authenticator } = given;
    const first = await authenticator.authorize();
    world.authorized.place.claim = { atMs: Infinity };

    const renewal = first.settle(REFUSED);
    await method.close?.();

    await expect(renewal).rejects.toThrow("the service is closed");
    expect(world.authorized.provider.requests).toEqual([]);
  });
});
