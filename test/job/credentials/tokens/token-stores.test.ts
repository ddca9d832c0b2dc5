// Tokens in a file keep the contract, and are private; those in memory keep it as well.

import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FileTokenStore } from "../../../../lambdas/job/credentials/tokens/file-token-store.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";
import { temporaryDirectory } from "../../storage/directory/temporary-directory.ts";
import { MemoryTokenStore, TokenPlace } from "./memory-token-store.ts";
import { sampleTokens } from "./sample-tokens.ts";
import { tokenStoreContract } from "./token-store-contract.ts";

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

  expect(error).toMatchObject({ code: "STORE_FAILED", message: expect.stringContaining("--tokens") });
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
