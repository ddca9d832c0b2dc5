// Who may read a warehouse: its owner alone if it is new, those whom its directory lets in if it was there before.

import { chmod, mkdir, open, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tryLock } from "fs-native-extensions";
import { describe, expect, it } from "vitest";
import { systemRandom } from "../../../../lambdas/job/runtime/clock.ts";
import { DirectoryStore } from "../../../../lambdas/job/storage/directory/directory-store.ts";
import { makeDirectory } from "../../../../lambdas/job/storage/directory/durable-file.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);

const storeIn = (directory: string, lockTimeoutMs = 30_000): DirectoryStore =>
  new DirectoryStore({ directory, random: systemRandom, lockTimeoutMs });

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

/** Every file and folder of the warehouse, with its mode. */
async function modesIn(directory: string): Promise<Record<string, string>> {
  const paths = (await readdir(directory, { recursive: true })).sort();
  const modes = paths.map(async (path) => [path, await modeOf(join(directory, path))] as const);
  return Object.fromEntries(await Promise.all(modes));
}

/** Creates, replaces and deletes, so that every kind of file is made. */
async function work(store: DirectoryStore): Promise<void> {
  const version = (await store.create("a/b/key", bytes("one"))) ?? "";
  await store.create("other", bytes("two"));
  await store.replace("a/b/key", bytes("three"), version);
  await store.delete("other");
}

describe.skipIf(process.platform === "win32")("DirectoryStore", () => {
  it("makes a new warehouse that only its owner may read", async () => {
    const parent = join(await temporaryDirectory(), "new");
    const directory = join(parent, "warehouse");

    await work(storeIn(directory));

    expect([await modeOf(parent), await modeOf(directory)]).toEqual(["700", "700"]);
    expect(await modesIn(directory)).toEqual({
      ".lock": "600",
      ".tmp": "700",
      a: "700",
      "a/b": "700",
      "a/b/key": "600",
    });
  });

  it.each([
    { existing: 0o755, folder: "755", file: "644" },
    { existing: 0o750, folder: "750", file: "640" },
    { existing: 0o700, folder: "700", file: "600" },
  ])("gives what is new in a directory of mode $existing the same rights", async (rights) => {
    const directory = await temporaryDirectory();
    await chmod(directory, rights.existing);

    await storeIn(directory).create("a/key", bytes("one"));

    expect(await modeOf(directory)).toBe(rights.folder);
    expect(await modesIn(directory)).toEqual({
      ".tmp": rights.folder,
      a: rights.folder,
      "a/key": rights.file,
    });
  });

  it("keeps readers from locking, also with a lock file of an older version", async () => {
    const directory = await temporaryDirectory();
    await chmod(directory, 0o755);
    const store = storeIn(directory);
    const version = (await store.create("key", bytes("one"))) ?? "";
    await writeFile(join(directory, ".lock"), "");
    await chmod(join(directory, ".lock"), 0o664);

    await store.replace("key", bytes("two"), version);

    expect(await modeOf(join(directory, ".lock"))).toBe("660");
    expect(await modeOf(join(directory, "key"))).toBe("644");
  });

  it("reads and lists while another process holds the lock, or none may open it", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory, 1);
    await store.create("key", bytes("one"));
    await using lock = await open(join(directory, ".lock"), "a", 0o000);
    tryLock(lock.fd);

    expect((await store.read("key"))?.bytes).toEqual(Buffer.from("one"));
    expect(await Array.fromAsync(store.list(""))).toHaveLength(1);
  });

  it("says that it cannot lock, why, and that reading needs no lock", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await mkdir(join(directory, ".lock"));

    await expect(store.delete("key")).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining(`Could not lock ${join(directory, ".lock")}: a directory is where`),
    });
  });
});

it("a folder and its parents are made, also where many callers do so at once", async () => {
  for (let round = 0; round < 20; round += 1) {
    const path = join(await temporaryDirectory(), "a", "b", "c");

    await Promise.all(Array.from({ length: 30 }, () => makeDirectory(path, 0o700)));

    expect((await stat(path)).isDirectory()).toBe(true);
  }
});
