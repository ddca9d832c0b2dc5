// Tokens in a file, in memory and in Secrets Manager keep the contract; those in a file are private; those in a secret follow
// the rules of AWS for staging labels.

import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UpdateSecretVersionStageCommand } from "@aws-sdk/client-secrets-manager";
import { describe, expect, it } from "vitest";
import { FileTokenStore } from "../../../../lambdas/job/credentials/tokens/file-token-store.ts";
import { SecretsManagerTokenStore } from "../../../../lambdas/job/credentials/tokens/secrets-manager-token-store.ts";
import { SecretsServer } from "../../../aws/secrets-server.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";
import { told } from "../../../words/said.ts";
import { temporaryDirectory } from "../../storage/directory/temporary-directory.ts";
import { MemoryTokenStore, sampleTokens, TokenPlace } from "./memory-token-store.ts";
import { type TokenWorld, tokenStoreContract } from "./token-store-contract.ts";

const storeIn = (directory: string, lockTimeoutMs = 5_000): FileTokenStore =>
  new FileTokenStore({ file: join(directory, "uk.tokens.json"), lockTimeoutMs });

tokenStoreContract("FileTokenStore", async () => {
  const directory = await temporaryDirectory();
  return {
    open: () => storeIn(directory),
    put: (text) => writeFile(join(directory, "uk.tokens.json"), text),
    [Symbol.asyncDispose]: async () => undefined,
  };
});

tokenStoreContract("MemoryTokenStore", async () => {
  const place = new TokenPlace();
  const clock = new ManualClock(0);
  return {
    open: () => new MemoryTokenStore(place, clock),
    put: async (text) => place.store(text),
    passExpiry: () => clock.advance(60_000),
    versions: () => place.writes,
    [Symbol.asyncDispose]: async () => undefined,
  };
});

it("tokens are readable by their owner alone, also where the file before was not, and nothing else is left", async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, "uk.tokens.json"), "{}", { mode: 0o644 });
  const store = storeIn(directory);
  const stored = await store.read();

  await store.replace(stored.version, sampleTokens("1"));

  const modes = await Promise.all(
    (await readdir(directory)).map(async (name) => [name, (await stat(join(directory, name))).mode & 0o777]),
  );
  expect(Object.fromEntries(modes)).toEqual({ "uk.tokens.json": 0o600, "uk.tokens.json.lock": 0o600 });
});

it("what a process left that was killed while it wrote is replaced, and not taken for the tokens", async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, ".new-uk.tokens.json"), "half of", { mode: 0o644 });

  const version = await storeIn(directory).replace(undefined, sampleTokens("1"));

  expect(await storeIn(directory).read()).toMatchObject({ version, tokens: sampleTokens("1") });
  expect(await readdir(directory)).toEqual(["uk.tokens.json", "uk.tokens.json.lock"]);
});

it("a person's new tokens wait for the renewal under way, and a hanging one is told", async () => {
  const directory = await temporaryDirectory();
  const version = (await storeIn(directory).replace(undefined, sampleTokens("1"))) ?? "";
  const claim = await storeIn(directory).claim(version);

  const error = await storeIn(directory, 20)
    .replace(version, sampleTokens("2"))
    .catch((reason: unknown) => reason);
  await claim?.release();

  expect(error).toMatchObject({
    code: "STORE_FAILED",
    message: expect.stringContaining("another process has kept it locked"),
  });
});

it.skipIf(process.getuid?.() === 0)(
  "a place that may not be written is refused before any claim",
  async () => {
    const directory = await temporaryDirectory();
    await storeIn(directory).replace(undefined, sampleTokens("1"));
    await chmod(directory, 0o500);
    await chmod(join(directory, "uk.tokens.json.lock"), 0o400);

    await expect(storeIn(directory).claim("any")).rejects.toMatchObject({ code: "STORE_FAILED" });
  },
);

it("a directory that does not exist is told with the option, and no warehouse is named", async () => {
  const directory = join(await temporaryDirectory(), "none");

  const error = await storeIn(directory)
    .replace(undefined, sampleTokens("1"))
    .catch((reason: unknown) => reason);

  expect(told(error)).toMatchObject({ code: "STORE_FAILED", message: expect.stringContaining("--tokens") });
  expect(String(error)).not.toContain("warehouse");
});

it("a directory in the file's place is told", async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "uk.tokens.json"));

  await expect(storeIn(directory).read()).rejects.toMatchObject({
    code: "STORE_FAILED",
    fields: { errno: "EISDIR" },
  });
});

it("the file is one line of JSON without the client's secret", async () => {
  const directory = await temporaryDirectory();

  await storeIn(directory).replace(undefined, sampleTokens("1", { expires_at: "2026-11-21T07:00:00.000Z" }));

  expect(await readFile(join(directory, "uk.tokens.json"), "utf8")).toBe(
    '{"format":1,"client_id":"brand-client","access_token":"access-1","refresh_token":"refresh-1","token_type":"Bearer","obtained_at":"2026-11-21T06:00:00.000Z","expires_at":"2026-11-21T07:00:00.000Z"}\n',
  );
});

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
