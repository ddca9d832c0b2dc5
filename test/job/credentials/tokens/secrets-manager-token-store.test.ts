// Tokens in Secrets Manager keep the contract, with the rules of AWS for staging labels.

import { UpdateSecretVersionStageCommand } from "@aws-sdk/client-secrets-manager";
import { describe, expect, it } from "vitest";
import { SecretsManagerTokenStore } from "../../../../lambdas/job/credentials/tokens/secrets-manager-token-store.ts";
import { SecretsServer } from "../../../aws/secrets-server.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";
import { sampleTokens } from "./sample-tokens.ts";
import { type TokenWorld, tokenStoreContract } from "./token-store-contract.ts";

const NAME = "tokens-of-uk";

interface SecretWorld extends TokenWorld {
  readonly server: SecretsServer;
  readonly clock: ManualClock;
  open(): SecretsManagerTokenStore;
}

async function secretWorld(): Promise<SecretWorld> {
  const server = await SecretsServer.start();
  server.create(NAME);
  const client = server.client();
  const clock = new ManualClock(0);
  return {
    server,
    clock,
    open: () => new SecretsManagerTokenStore({ client, secretId: NAME, clock }),
    put: async (text) => server.put(NAME, text),
    passExpiry: () => clock.advance(60_000),
    versions: () => server.versions(NAME),
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

tokenStoreContract("SecretsManagerTokenStore", secretWorld);

describe("a claim on a secret", () => {
  it("is not held any more before another process may take it over", async () => {
    await using world = await secretWorld();
    const version = (await world.open().replace(undefined, sampleTokens("1"))) ?? "";
    const claim = await world.open().claim(version);
    const other = world.open();
    await other.claim(version);

    const held = [claim?.isHeld];
    world.clock.advance(39_000);
    held.push(claim?.isHeld);
    world.clock.advance(2_000);
    held.push(claim?.isHeld);
    const early = await other.claim(version);
    world.clock.advance(20_000);
    const late = await other.claim(version);

    expect(held).toEqual([true, true, false]);
    expect([early, late === undefined]).toEqual([undefined, false]);
  });

  it("taken over by one process is not undone by a late second one that saw the same expiry", async () => {
    await using world = await secretWorld();
    const version = (await world.open().replace(undefined, sampleTokens("1"))) ?? "";
    await world.open().claim(version);
    const [one, two] = [world.open(), world.open()];
    await Promise.all([one.claim(version), two.claim(version)]);
    world.clock.advance(61_000);

    const first = await one.claim(version);
    await first?.release();
    const again = await world.open().claim(version);
    const second = await two.claim(version);

    expect([first === undefined, again === undefined, second]).toEqual([false, false, undefined]);
  });

  it("whose response is lost can be taken when a minute has passed", async () => {
    await using world = await secretWorld();
    const version = (await world.open().replace(undefined, sampleTokens("1"))) ?? "";
    const before = await world.open().claim(version);
    await before?.release();
    let moves = 0;
    world.server.onCall = (action, perform) => {
      if (action !== "UpdateSecretVersionStage") return undefined;
      moves += 1;
      // The first move makes the label, the second one takes it.
      if (moves < 2) return undefined;
      perform();
      return "lose";
    };

    const lost = await world
      .open()
      .claim(version)
      .catch((error: unknown) => error);
    world.server.onCall = undefined;
    const other = world.open();
    const early = await other.claim(version);
    world.passExpiry?.();
    const late = await other.claim(version);

    expect(lost).toMatchObject({ code: "STORE_FAILED" });
    expect([early, late === undefined]).toEqual([undefined, false]);
  });

  it("is refused with the permissions that it needs", async () => {
    await using world = await secretWorld();
    const client = world.server.client();
    const store = new SecretsManagerTokenStore({ client, secretId: "no/such-secret", clock: world.clock });

    await expect(store.claim("any")).rejects.toMatchObject({
      code: "CREDENTIALS_INVALID",
      message: expect.stringContaining("no such secret in this account and region"),
    });
    await expect(store.read()).rejects.toMatchObject({ code: "CREDENTIALS_INVALID" });
  });
});

describe("a renewal in a secret", () => {
  it("that is repeated because its response was lost makes one version", async () => {
    await using world = await secretWorld();
    const client = world.server.client(3);
    const store = new SecretsManagerTokenStore({ client, secretId: NAME, clock: world.clock });
    let lost = 0;
    world.server.onCall = (action, perform) => {
      if (action !== "PutSecretValue" || lost > 0) return undefined;
      lost += 1;
      perform();
      return "lose";
    };

    const version = await store.replace(undefined, sampleTokens("1"));

    expect(version).toBeDefined();
    expect([lost, world.server.versions(NAME)]).toEqual([1, 1]);
  });

  it("works also when a person has made an older version current again", async () => {
    await using world = await secretWorld();
    const store = world.open();
    const first = (await store.replace(undefined, sampleTokens("1"))) ?? "";
    const second = (await store.replace(first, sampleTokens("2"))) ?? "";
    await world.server.client().send(
      new UpdateSecretVersionStageCommand({
        SecretId: NAME,
        VersionStage: "AWSCURRENT",
        MoveToVersionId: first,
        RemoveFromVersionId: second,
      }),
    );

    const third = await store.replace(first, sampleTokens("3"));

    expect(third).toBeDefined();
    expect(await store.read()).toMatchObject({ tokens: sampleTokens("3") });
  });
});
