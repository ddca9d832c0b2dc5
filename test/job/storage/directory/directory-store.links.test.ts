// Symbolic links in a warehouse: followed everywhere alike, and never round in a circle or into nothing.

import { mkdir, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { systemRandom } from "../../../../lambdas/job/runtime/system-random.ts";
import { DirectoryStore } from "../../../../lambdas/job/storage/directory/directory-store.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);

const storeIn = (directory: string): DirectoryStore =>
  new DirectoryStore({ directory, random: systemRandom });

async function keysOf(store: DirectoryStore, prefix = "", after = ""): Promise<readonly string[]> {
  return (await Array.fromAsync(store.list(prefix, after))).map(({ key }) => key);
}

/** A folder elsewhere, and a link to it in the warehouse. */
async function linked(directory: string, ...folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const target = join(`${directory}-elsewhere`, folder.replaceAll("/", "-"));
    await mkdir(target, { recursive: true });
    await mkdir(dirname(join(directory, folder)), { recursive: true });
    await symlink(target, join(directory, folder));
  }
}

describe("folders that are links", () => {
  it("are written, read, listed in order, replaced and deleted in", async () => {
    const directory = join(await temporaryDirectory(), "warehouse");
    await linked(directory, "publications", "snapshots/uk");
    const store = storeIn(directory);

    const version = (await store.create("publications/uk/1", bytes("one"))) ?? "";
    await store.create("snapshots/uk/a/part", bytes("a"));
    await store.create("snapshots/uk-b", bytes("b"));
    const again = await store.create("publications/uk/1", bytes("two"));
    const replaced = await store.replace("publications/uk/1", bytes("three"), version);

    expect(again).toBeUndefined();
    expect(replaced).toBeDefined();
    expect(await keysOf(store)).toEqual(["publications/uk/1", "snapshots/uk-b", "snapshots/uk/a/part"]);
    expect(await keysOf(store, "publications/")).toEqual(["publications/uk/1"]);
    expect(await keysOf(store, "snapshots/uk/", "snapshots/uk/a")).toEqual(["snapshots/uk/a/part"]);
    expect(new TextDecoder().decode((await store.read("publications/uk/1"))?.bytes)).toBe("three");
    await store.delete("publications/uk/1");
    expect(await keysOf(store, "publications/")).toEqual([]);
  });

  it("are a whole warehouse too", async () => {
    const parent = await temporaryDirectory();
    await mkdir(join(parent, "disk"));
    await symlink(join(parent, "disk"), join(parent, "warehouse"));
    const store = storeIn(join(parent, "warehouse"));

    await store.create("a/key", bytes("one"));

    expect(await keysOf(storeIn(join(parent, "disk")))).toEqual(["a/key"]);
    expect(await keysOf(store)).toEqual(["a/key"]);
  });
});

describe("a circle of links", () => {
  it.each([
    { what: "a link to the folder it lies in", links: [["a/loop", "."]] },
    { what: "a link to the warehouse", links: [["a/b/loop", "../.."]] },
    {
      what: "two folders that lead to each other",
      links: [
        ["a/to-b", "../b"],
        ["b/to-a", "../a"],
      ],
    },
    { what: "a link to itself", links: [["a/loop", "loop"]] },
  ] as const)("is an error that names it: $what", async ({ links }) => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await store.create("a/key", bytes("one"));
    for (const [at, target] of links) {
      await mkdir(dirname(join(directory, at)), { recursive: true });
      await symlink(target, join(directory, at));
    }

    await expect(keysOf(store)).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringMatching(
        /\/(?:loop|to-[ab]): a symbolic link there leads back .* Remove the link/,
      ),
    });
  });

  it("elsewhere in the folder is no error", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await store.create("a/key", bytes("one"));
    await symlink(".", join(directory, "loop"));
    await symlink("nowhere", join(directory, "broken"));

    expect(await keysOf(store, "a/")).toEqual(["a/key"]);
  });

  it("is none where two links lead to one folder", async () => {
    const directory = await temporaryDirectory();
    await storeIn(directory).create("a/key", bytes("one"));
    await symlink("a", join(directory, "b"));
    await symlink("a", join(directory, "c"));

    expect(await keysOf(storeIn(directory))).toEqual(["a/key", "b/key", "c/key"]);
  });
});

test.each([
  ["create", (store: DirectoryStore) => store.create("a/key", bytes("one"))],
  ["read", (store: DirectoryStore) => store.read("a/key")],
  ["open", (store: DirectoryStore) => store.open("a/key")],
  ["list", (store: DirectoryStore) => keysOf(store, "a/")],
  ["delete", (store: DirectoryStore) => store.delete("a/key")],
] as const)("%s says that a link leads nowhere, and takes it for no missing file", async (_, call) => {
  const parent = await temporaryDirectory();
  const directory = join(parent, "warehouse");
  const [inside, whole] = [storeIn(directory), storeIn(join(parent, "link"))];
  await linked(directory, "a");
  await rm(`${directory}-elsewhere`, { recursive: true });
  await symlink("unmounted", join(parent, "link"));
  const broken = (path: string): object => ({
    code: "STORE_FAILED",
    message: expect.stringContaining(`the link ${path}: its target does not exist. Mount the target`),
  });

  await expect(call(inside)).rejects.toMatchObject(broken(join(directory, "a")));
  await expect(call(whole)).rejects.toMatchObject(broken(join(parent, "link")));
});
