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
import { told } from "../../../../words/said.ts";
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

/** Every request is refused, so long after it was permitted; what each was sent with, and how that ends. */
async function refusedToTheEnd({ world, authenticator }: Authenticating, waitMs = 0) {
  const used: { readonly token: string | undefined; readonly atMs: number }[] = [];
  try {
    for (let authorization = await authenticator.authorize(); used.length < 10; ) {
      used.push({ token: tokenOf(authorization), atMs: world.clock.now() });
      world.clock.advance(waitMs);
      const next = await authorization.settle(REFUSED);
      if (next === undefined) break;
      authorization = next;
    }
  } catch (error) {
    return { used, error };
  }
  return { used, error: undefined };
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

  it("is used while it is valid", async () => {
    await using given = await authenticating(600);
    const { world, authenticator } = given;

    const authorization = await authenticator.authorize();

    expect(tokenOf(authorization)).toBe(`Bearer ${world.authorized.place.tokens?.access_token}`);
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
    const beganAtMs = world.clock.now();

    const { used, error } = await refusedToTheEnd(given);

    const [stored, renewed] = [used[0]?.token, `Bearer ${world.authorized.place.tokens?.access_token}`];
    expect(used.map(({ token, atMs }) => [token, atMs - beganAtMs])).toEqual([
      [stored, 0],
      [renewed, 0],
      [renewed, 1_000],
      [renewed, 4_000],
    ]);
    expect(stored).not.toBe(renewed);
    expect(told(error)).toMatchObject({
      code: "UNAUTHENTICATED",
      message: expect.stringContaining("--auth-url"),
    });
    expect(await errorOf(authenticator.authorize())).toBe(error);
    expect(world.authorized.provider.counts.refreshes).toBe(1);
  });

  it.each([
    ["while it is tried again is not renewed once more", 3, 0, 1],
    ["while its first request waited for permission is renewed again, three times at most", 10, 10_000, 3],
  ])("that ended %s", async (_, lifetimeSeconds, waitMs, refreshes) => {
    await using given = await authenticating(0, lifetimeSeconds);

    const { error } = await refusedToTheEnd(given, waitMs);

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(given.world.authorized.provider.counts.refreshes).toBe(refreshes);
  });

  it("that another process has renewed is used without a request, and tried again before it is renewed", async () => {
    await using given = await authenticating();
    const { world, authenticator } = given;
    const first = await authenticator.authorize();
    const { tokens } = await world.renewOnce();
    const taken = await first.settle(REFUSED);
    const beganAtMs = world.clock.now();

    const again = await taken?.settle(REFUSED);

    expect([taken, again].map(tokenOf)).toEqual(Array(2).fill(`Bearer ${tokens.access_token}`));
    expect(world.clock.now() - beganAtMs).toBe(1_000);
    expect(world.authorized.provider.counts.refreshes).toBe(1);
  });
});

describe("a run that is stopped", () => {
  /** In the middle of its renewal: before the request is sent, or when its response has come. */
  const stopped = async (world: RotationWorld, when: "before" | "after") => {
    const sent = Promise.withResolvers<void>();
    const pause = async (): Promise<void> => {
      sent.resolve();
      await realSleep(20);
    };
    const method = world.method(world.sending({ [when]: pause }));
    const authenticator = new Authenticator(BASE, method, { clock: world.clock, logger: world.log });
    const stop = new AbortController();
    const renewal = (await authenticator.authorize()).settle(REFUSED, stop.signal);
    await sent.promise;
    stop.abort(new Error("stop"));
    return { method, authenticator, error: await errorOf(Promise.resolve(renewal)) };
  };

  it("stores the tokens of a renewal whose request was sent, before its connections are closed", async () => {
    await using world = await RotationWorld.start();
    const { provider, place } = world.authorized;

    const { method, error } = await stopped(world, "after");
    await method.close?.();

    expect(String(error)).toContain("stop");
    expect(place.writes).toBe(2);
    expect(provider.admits(place.tokens?.access_token ?? "")).toBe(true);
  });

  it("leaves its renewal to the next request, which sends none of its own", async () => {
    await using world = await RotationWorld.start();
    const { authenticator } = await stopped(world, "before");

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
