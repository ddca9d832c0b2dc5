// A process is killed at every step of a renewal. The next start works, but for the one window that cannot be closed.

import { describe, expect, it } from "vitest";
import type { TokenStore } from "../../../../../lambdas/job/credentials/tokens/token-store.ts";
import type { Transport } from "../../../../../lambdas/job/service/http/transport.ts";
import { RotationWorld } from "./rotation-world.ts";

class Killed extends Error {}

/** Lets a process live for so many steps; then nothing that it does has an effect any more. */
class Life {
  readonly steps: string[] = [];
  readonly #diesAt: number;

  constructor(diesAt: number) {
    this.#diesAt = diesAt;
  }

  /** `before` and `after` are two steps: the second may have had its effect. */
  async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#pass(`before ${name}`);
    const result = await work();
    this.#pass(`after ${name}`);
    return result;
  }

  #pass(name: string): void {
    if (this.steps.length < this.#diesAt) this.steps.push(name);
    if (this.steps.length >= this.#diesAt) throw new Killed(name);
  }
}

function mortalStore(world: RotationWorld, life: Life): TokenStore {
  const store = world.store();
  return world.store({
    read: () => life.step("read", () => store.read()),
    replace: (version, tokens) => life.step("store", () => store.replace(version, tokens)),
    claim: (version) =>
      life.step("claim", async () => {
        const claim = await store.claim(version);
        if (claim === undefined) return undefined;
        return {
          get isHeld() {
            return claim.isHeld;
          },
          release: () => life.step("release", () => claim.release()),
        };
      }),
  });
}

const mortalTransport = (transport: Transport, life: Life): Transport => ({
  send: (request, signal) => life.step("request", () => transport.send(request, signal)),
  close: () => transport.close(),
});

const ALIVE = Number.POSITIVE_INFINITY;

async function killedAt(world: RotationWorld, step: number): Promise<readonly string[]> {
  const life = new Life(step);
  const rotation = world.process({
    store: mortalStore(world, life),
    transport: mortalTransport(world.network, life),
  });
  await world.renewOnce(rotation).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
  return life.steps;
}

async function stepsOfARenewal(): Promise<readonly string[]> {
  await using world = await RotationWorld.start();
  return await killedAt(world, ALIVE);
}

const steps = await stepsOfARenewal();
const kills = steps.map((name, index) => ({ name, n: index + 1 }));
const lastRequest = steps.indexOf("after request") + 1;
const stored = steps.indexOf("after store") + 1;

it("a renewal reads, claims, reads, asks, stores and releases", () => {
  const inOrder = ["read", "read", "claim", "read", "request", "store", "release"];
  expect(steps).toEqual(inOrder.flatMap((name) => [`before ${name}`, `after ${name}`]));
});

describe.each([
  { what: "that accepts a spent token for two minutes", graceMs: 120_000 },
  { what: "that accepts no spent token", graceMs: 0 },
])("with an identity provider $what", ({ graceMs }) => {
  it.each(kills)(
    "a process that is killed at step $n, $name, stops no later start for good",
    async ({ n }) => {
      await using world = await RotationWorld.start({ refreshToken: { graceMs } });
      const isOpenWindow = graceMs === 0 && n >= lastRequest && n < stored;

      await killedAt(world, n);
      const next = await world.renewOnce().catch((error: unknown) => error);

      if (isOpenWindow) {
        expect(next).toMatchObject({ code: "AUTHORIZATION_EXPIRED" });
        world.authorized.authorizeAgain();
      } else {
        expect(next).toMatchObject({ tokens: expect.anything() });
      }
      expect(await world.isWhole()).toBe(true);
    },
  );

  it("two processes that are killed one after the other at any two steps stop no later start for good", async () => {
    for (const first of kills) {
      for (const second of [lastRequest - 1, lastRequest, stored - 1, stored]) {
        await using world = await RotationWorld.start({ refreshToken: { graceMs: 600_000 } });
        await killedAt(world, first.n);
        await killedAt(world, second);

        expect(await world.renewOnce()).toMatchObject({ tokens: expect.anything() });
        expect(await world.isWhole()).toBe(true);
      }
    }
  });
});
