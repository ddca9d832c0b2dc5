// Symbolic links in a warehouse: followed everywhere alike, and never round in a circle or into nothing.

import {
  chmod,
  lchown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { systemRandom } from "../../../../lambdas/job/runtime/random.ts";
import { DirectoryStore } from "../../../../lambdas/job/storage/directory/directory-store.ts";
import { foreignLinkOn, inFolder } from "../../../../lambdas/job/storage/directory/open-folder.ts";
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

const isRoot = process.getuid?.() === 0;
const SOMEBODY = 12345;

/**
 * A link at `path` to a folder of another user than the link's, and a file there. Only root can give a link away; anybody
 * else has a link to a folder of root, where nothing can be deleted anyway: only the message differs.
 */
async function foreignLink(path: string): Promise<{ readonly folder: string; readonly file: string }> {
  if (!isRoot) {
    await symlink("/etc", path);
    return { folder: "/etc", file: "hosts" };
  }
  const folder = await temporaryDirectory();
  await writeFile(join(folder, "hosts"), "private");
  await symlink(folder, path);
  await lchown(path, SOMEBODY, SOMEBODY);
  return { folder, file: "hosts" };
}

describe.skipIf(process.platform === "win32")("behind a link of another user than its target's", () => {
  const REFUSED =
    /^Nothing is deleted or replaced behind the link \/.*\/a\/b: it does not belong to the owner/;

  it("nothing is deleted or replaced, and a list names the link", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await store.create("a/key", bytes("one"));
    const link = join(directory, "a", "b");
    const { folder, file } = await foreignLink(link);
    const before = await readFile(join(folder, file));
    const version = (await store.read(`a/b/${file}`))?.version ?? "";

    const refused = { code: "STORE_FAILED", message: expect.stringMatching(REFUSED) };
    await expect(store.delete(`a/b/${file}`)).rejects.toMatchObject(refused);
    await expect(store.delete("a/b/no-such-file")).rejects.toMatchObject(refused);
    await expect(store.replace(`a/b/${file}`, bytes("changed"), version)).rejects.toMatchObject(refused);

    expect(await readFile(join(folder, file))).toEqual(before);
    const listed = await Array.fromAsync(store.list(`a/b/${file}`));
    expect(listed.map(({ key, refusedLink }) => [key, refusedLink])).toContainEqual([`a/b/${file}`, link]);
    const [own] = await Array.fromAsync(store.list("a/k"));
    expect(own).not.toHaveProperty("refusedLink");
  });

  it("no temporary file is removed, which is named", async () => {
    const directory = await temporaryDirectory();
    const { folder } = await foreignLink(join(directory, ".tmp"));
    const old = join(folder, systemRandom.token());
    if (isRoot) await writeFile(old, "private");
    if (isRoot) await utimes(old, 0, 0);
    const warnings: string[] = [];

    await storeIn(directory).tidy(Date.now(), { warn: (message) => warnings.push(message) });

    expect(warnings).toEqual([expect.stringContaining(`behind the link ${join(directory, ".tmp")}: `)]);
    if (isRoot) expect(await readFile(old, "utf8")).toBe("private");
  });

  it.runIf(isRoot)("nothing is deleted if only a link further on is another user's", async () => {
    const directory = await temporaryDirectory();
    const elsewhere = await temporaryDirectory();
    await foreignLink(join(elsewhere, "there"));
    await symlink(join(elsewhere, "there"), join(directory, "a"));

    await expect(storeIn(directory).delete("a/hosts")).rejects.toMatchObject({ code: "STORE_FAILED" });
  });

  it("a link that takes the place of an opened folder leads nowhere", async ({ skip }) => {
    if (process.platform !== "linux") skip();
    const [directory, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
    await mkdir(join(directory, "a"));
    for (const folder of [join(directory, "a"), elsewhere]) await writeFile(join(folder, "key"), "");

    await inFolder(directory, ["a"], async (path) => {
      await rename(join(directory, "a"), join(directory, "moved"));
      await symlink(elsewhere, join(directory, "a"));
      await unlink(join(path, "key"));
    });

    expect(await readdir(elsewhere)).toEqual(["key"]);
    expect(await readdir(join(directory, "moved"))).toEqual([]);
  });

  it("knows the first link on a way that is neither this user's nor root's", async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "real"));
    await symlink("real", join(directory, "second"));
    await symlink("second", join(directory, "first"));
    const user = process.getuid?.() ?? 0;
    if (isRoot) await lchown(join(directory, "second"), SOMEBODY, SOMEBODY);

    const found = await foreignLinkOn(join(directory, "first", "file"), isRoot ? user : SOMEBODY);

    expect(found).toBe(join(directory, isRoot ? "second" : "first"));
    expect(await foreignLinkOn(join(directory, "real", "file"), SOMEBODY)).toBeUndefined();
  });
});

test.skipIf(process.platform === "win32")(
  "a lock that is a link locks nothing and changes no mode",
  async () => {
    const [directory, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
    const file = join(elsewhere, "file");
    await writeFile(file, "");
    await chmod(file, 0o644);
    await symlink(file, join(directory, ".lock"));

    await expect(storeIn(directory).delete("key")).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: `Could not lock ${join(directory, ".lock")}: it is a symbolic link. Remove the link and start again. (ELOOP)`,
    });
    expect((await stat(file)).mode & 0o777).toBe(0o644);
  },
);
