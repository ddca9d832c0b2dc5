// What everything promises that keeps the tokens of an authorization (lambdas/job/credentials/tokens/token-store.ts).

import { describe, expect, it } from "vitest";
import { storeAuthorized, type TokenStore } from "../../../../lambdas/job/credentials/tokens/token-store.ts";
import { sampleTokens } from "./memory-token-store.ts";

export interface TokenWorld extends AsyncDisposable {
  /** The same place, as another process opens it. */
  open(): TokenStore;
  /** Puts this text there, as a person might. */
  put(text: string): Promise<void>;
  /** Lets the time pass after which a claim is over that was never ended. */
  passExpiry?(): void;
  /** How many values were ever stored there, where the place counts them. */
  versions?(): number;
}

const FIRST = sampleTokens("1");

async function versionOf(store: TokenStore): Promise<string> {
  const stored = await store.read();
  return stored.version ?? "none";
}

export function tokenStoreContract(name: string, make: () => Promise<TokenWorld>): void {
  describe(`${name} as a token store`, () => {
    it("has nothing at first, and then what was stored", async () => {
      await using world = await make();
      const store = world.open();

      const before = await store.read();
      const version = await store.replace(undefined, FIRST);

      expect(before).toEqual({ version: undefined, tokens: undefined });
      expect(await world.open().read()).toEqual({ version, tokens: FIRST });
    });

    it("names each value by another version", async () => {
      await using world = await make();
      const store = world.open();
      const versions = [await store.replace(undefined, FIRST)];

      for (let n = 2; n <= 4; n += 1)
        versions.push(await store.replace(versions.at(-1), sampleTokens(`${n}`)));

      expect(new Set(versions).size).toBe(4);
      expect(versions).not.toContain(undefined);
      expect(await versionOf(store)).toBe(versions.at(-1));
    });

    it("stores nothing in place of another value than the one named", async () => {
      await using world = await make();
      const store = world.open();
      const first = await store.replace(undefined, FIRST);
      await store.replace(first, sampleTokens("2"));

      const late = await world.open().replace(first, sampleTokens("late"));
      const asFirst = await world.open().replace(undefined, sampleTokens("late"));

      expect([late, asFirst]).toEqual([undefined, undefined]);
      expect(await store.read()).toMatchObject({ tokens: sampleTokens("2") });
    });

    it("lets one of several writers succeed", async () => {
      await using world = await make();
      const version = await world.open().replace(undefined, FIRST);

      const writers = Array.from({ length: 8 }, (_, n) =>
        world.open().replace(version, sampleTokens(`w${n}`)),
      );
      const written = await Promise.all(writers);

      const winner = written.findIndex((each) => each !== undefined);
      expect(written.filter((each) => each !== undefined)).toHaveLength(1);
      expect(await world.open().read()).toMatchObject({ tokens: sampleTokens(`w${winner}`) });
    });

    it.each(["", "{}", '{"format":2}', "not JSON", '{"access_token":"a"}'])(
      "says that %j is no tokens, and replaces it by those of a new authorization",
      async (text) => {
        await using world = await make();
        await world.put(text || " ");

        const before = await world.open().read();
        await storeAuthorized(world.open(), FIRST);

        expect(before).toEqual({ version: expect.any(String), tokens: undefined });
        expect(await world.open().read()).toMatchObject({ tokens: FIRST });
      },
    );

    it("ignores keys that a later version has added", async () => {
      await using world = await make();

      await world.put(JSON.stringify({ ...FIRST, from_the_future: true }));

      expect(await world.open().read()).toMatchObject({ tokens: FIRST });
    });

    it("gives a claim to one of several, and to the next when it is released", async () => {
      await using world = await make();
      const version = (await world.open().replace(undefined, FIRST)) ?? "";

      const claims = await Promise.all(Array.from({ length: 8 }, () => world.open().claim(version)));
      const [claim, ...others] = claims.filter((each) => each !== undefined);
      const held = claim?.isHeld;
      await claim?.release();
      const next = await world.open().claim(version);
      const third = await world.open().claim(version);
      await next?.release();

      expect([held, others.length, next === undefined, third]).toEqual([true, 0, false, undefined]);
    });

    it("gives no claim on a version that is not the stored one, and then one on that", async () => {
      await using world = await make();
      const store = world.open();
      const version = (await store.replace(undefined, FIRST)) ?? "";
      const second = (await store.replace(version, sampleTokens("2"))) ?? "";

      const late = await store.claim(version);
      const next = await world.open().claim(second);
      await next?.release();

      expect([late, next === undefined]).toEqual([undefined, false]);
    });

    it("stores under a claim, and the next version can be claimed at once", async () => {
      await using world = await make();
      const store = world.open();
      const version = (await store.replace(undefined, FIRST)) ?? "";

      const claim = await store.claim(version);
      const second = (await store.replace(version, sampleTokens("2"))) ?? "";
      await claim?.release();
      const next = await world.open().claim(second);
      await next?.release();

      expect(next).toBeDefined();
    });

    it("gives a claim as often as one is released without new tokens", async () => {
      await using world = await make();
      await world.open().replace(undefined, FIRST);

      let given = 0;
      for (let asked = 0; given < 20 && asked < 40; asked += 1) {
        const store = world.open();
        const claim = await store.claim(await versionOf(store));
        if (claim) given += 1;
        await claim?.release();
      }

      expect(given).toBe(20);
      expect(await world.open().read()).toMatchObject({ tokens: FIRST });
    });

    it("makes a value of a renewal and none of a claim", async () => {
      await using world = await make();
      if (world.versions === undefined) return;
      const store = world.open();
      let version = (await store.replace(undefined, FIRST)) ?? "";
      const first = await store.claim(version);
      await first?.release();

      const before = world.versions();
      for (let n = 1; n <= 10; n += 1) {
        const claim = await world.open().claim(version);
        version = (await store.replace(version, sampleTokens(`${n}`))) ?? "";
        await claim?.release();
      }

      expect(world.versions() - before).toBe(10);
    });

    it("gives one claim in place of one that was never ended, when a minute has passed", async () => {
      await using world = await make();
      if (world.passExpiry === undefined) return;
      const version = (await world.open().replace(undefined, FIRST)) ?? "";
      await world.open().claim(version);
      const waiting = Array.from({ length: 4 }, () => world.open());
      const early = await Promise.all(waiting.map((store) => store.claim(version)));

      world.passExpiry();
      const late = await Promise.all(waiting.map((store) => store.claim(version)));

      expect(early).toEqual([undefined, undefined, undefined, undefined]);
      expect(late.filter((claim) => claim !== undefined)).toHaveLength(1);
    });
  });
}
