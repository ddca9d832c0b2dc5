// Below the folder of a warehouse there are folders and files: whatever else has a name of the layout is refused, and is never
// followed, waited for, changed or deleted. Who may read it: its owner alone if it is new, those whom its directory lets in if
// it was there before.

import {
  chmod,
  lstat,
  mkdir,
  open,
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
import { tryLock } from "fs-native-extensions";
import { describe, expect, it, test } from "vitest";
import { systemRandom } from "../../../../lambdas/job/runtime/clock.ts";
import { DirectoryStore } from "../../../../lambdas/job/storage/directory/directory-store.ts";
import { makeDirectory, withFileLock } from "../../../../lambdas/job/storage/directory/durable-file.ts";
import { inFolder } from "../../../../lambdas/job/storage/directory/warehouse-folder.ts";
import { toldBy } from "../../../words/said.ts";
import { makeFifo, temporaryDirectory } from "./temporary-directory.ts";

const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);

const storeIn = (directory: string, lockTimeoutMs = 30_000): DirectoryStore =>
  new DirectoryStore({ directory, random: systemRandom, lockTimeoutMs });

async function keysOf(store: DirectoryStore, prefix = ""): Promise<readonly string[]> {
  return (await Array.fromAsync(store.list(prefix))).map(({ key }) => key);
}

const ID = "2026-11-21T06-00-00.000Z";
const MANIFEST = `snapshots/uk/${ID}/_manifest.json`;
const PUBLICATION = "publications/uk/0000000001.ndjson";
const CHANGES = `changes/uk/0000000001/${ID}/part-00000.ndjson.gz`;
const KEYS = [
  `runs/uk/${ID}/outcome.json`,
  ...["accounts/uk/lease.json", "columns.json", CHANGES, PUBLICATION],
  ...[`run-log/uk/${ID}-1.ndjson`, MANIFEST, "views.sql"],
];

/** A warehouse with one file in each folder. */
async function warehouse(): Promise<{ directory: string; store: DirectoryStore }> {
  const directory = join(await temporaryDirectory(), "warehouse");
  const store = storeIn(directory);
  for (const key of KEYS) await store.create(key, bytes("one"));
  return { directory, store };
}

/** Puts something there instead of what is there, which is moved elsewhere. */
const INSTEAD = {
  "a link": async (path: string, moved: string) => {
    await rename(path, moved);
    await symlink(moved, path);
  },
  "a link that leads nowhere": async (path: string, moved: string) => {
    await rename(path, moved);
    await symlink("nowhere", path);
  },
  "a fifo": async (path: string, moved: string) => {
    await rename(path, moved);
    makeFifo(path);
  },
} as const;

const calls = (store: DirectoryStore, key: string) => [
  () => store.read(key),
  () => store.open(key),
  () => store.create(key, bytes("two")),
  () => store.copy("views.sql", key),
  () => store.copy(key, "other"),
  () => store.replace(key, bytes("two"), "version"),
  () => store.delete([key]),
  () => keysOf(store, key),
];

describe.skipIf(process.platform === "win32")("in a warehouse", () => {
  describe.each(Object.entries(INSTEAD))("%s", (_, put) => {
    it.each([
      { place: "snapshots", key: MANIFEST, code: "STORE_FAILED" },
      { place: "snapshots/uk", key: MANIFEST, code: "STORE_CORRUPT" },
      { place: `snapshots/uk/${ID}`, key: MANIFEST, code: "STORE_FAILED" },
      { place: MANIFEST, key: MANIFEST, code: "STORE_FAILED" },
      { place: `runs/uk/${ID}`, key: `runs/uk/${ID}/outcome.json`, code: "STORE_FAILED" },
      { place: "changes/uk/0000000001", key: CHANGES, code: "STORE_FAILED" },
      { place: `changes/uk/0000000001/${ID}`, key: CHANGES, code: "STORE_FAILED" },
      { place: "publications/uk", key: PUBLICATION, code: "STORE_CORRUPT" },
      { place: PUBLICATION, key: PUBLICATION, code: "STORE_FAILED" },
      { place: "columns.json", key: "columns.json", code: "STORE_FAILED" },
      { place: "views.sql", key: "views.sql", code: "STORE_FAILED" },
    ])("in the place of $place is refused as $code, and stays", async ({ place, key, code }) => {
      const { directory, store } = await warehouse();
      const path = join(directory, place);
      const moved = `${directory}-moved`;
      await put(path, moved);
      const mtime = (await lstat(path)).mtimeMs;
      const content = await stat(moved);

      for (const call of calls(store, key).filter((_, at) => key !== "views.sql" || at !== 3)) {
        expect(await toldBy(call())).toMatchObject({
          code,
          message: expect.stringMatching(/neither a folder nor a file.* mount another disk at /),
          fields: { path },
        });
      }

      expect((await lstat(path)).mtimeMs).toBe(mtime);
      expect((await stat(moved)).mtimeMs).toBe(content.mtimeMs);
    });

    it.each(["publications/uk", PUBLICATION])(
      "in the place of %s stops no list of all accounts, in which its own folder is a key",
      async (place) => {
        const { directory, store } = await warehouse();
        await store.create("publications/de/0000000001.ndjson", bytes("one"));
        await put(join(directory, place), `${directory}-moved`);

        expect(await keysOf(store, "publications/")).toEqual([
          "publications/de/0000000001.ndjson",
          "publications/uk/",
        ]);
        expect(await keysOf(store, "publications/de/")).toEqual(["publications/de/0000000001.ndjson"]);
      },
    );

    it("in the place of a folder stops a list of the account's folder", async () => {
      const { directory, store } = await warehouse();
      const path = join(directory, `snapshots/uk/${ID}`);
      await put(path, `${directory}-moved`);

      await expect(keysOf(store, "snapshots/uk/")).rejects.toMatchObject({ fields: { path } });
    });

    it("in the place of the lock stops what needs the lock", async () => {
      const { directory, store } = await warehouse();
      await store.delete(["views.sql"]);
      await put(join(directory, ".lock"), `${directory}-moved`);
      const refused = { code: "STORE_FAILED", fields: { path: join(directory, ".lock") } };

      await expect(store.delete([MANIFEST])).rejects.toMatchObject(refused);
      await expect(store.replace(MANIFEST, bytes("two"), "version")).rejects.toMatchObject(refused);
      expect(await keysOf(store, "snapshots/")).toEqual([MANIFEST]);
    });

    it("in the place of the temporary files stops what writes, and nothing of it is deleted", async () => {
      const { directory, store } = await warehouse();
      const left = join(directory, ".tmp", systemRandom.token());
      await writeFile(left, "left");
      await utimes(left, 0, 0);
      await put(join(directory, ".tmp"), `${directory}-moved`);
      const refused = { code: "STORE_FAILED", fields: { path: join(directory, ".tmp") } };

      await expect(store.create("other", bytes("two"))).rejects.toMatchObject(refused);
      await expect(store.tidy(Date.now(), "uk")).rejects.toMatchObject(refused);
      expect(await readdir(`${directory}-moved`)).toHaveLength(1);
    });

    it("under another name is ignored", async () => {
      const { directory, store } = await warehouse();
      const others = ["latest", "publications/uk/latest", "snapshots/uk/latest", "accounts/uk/x.json"];
      for (const [at, name] of others.entries()) {
        await writeFile(join(directory, name), "");
        await put(join(directory, name), `${directory}-moved-${at}`);
      }

      expect(await keysOf(store)).toEqual(KEYS.toSorted());
    });
  });

  it("a folder in the place of a file stops a list, as it stops who reads it", async () => {
    const { directory, store } = await warehouse();
    const path = join(directory, PUBLICATION);
    await rename(path, `${directory}-moved`);
    await mkdir(path);
    const refused = {
      code: "STORE_FAILED",
      message: expect.stringContaining("a directory is where a file should be"),
      fields: { path },
    };

    await expect(keysOf(store, "publications/uk/")).rejects.toMatchObject(refused);
    await expect(store.read(PUBLICATION)).rejects.toMatchObject(refused);
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
    await expect(inFolder(directory, ["a"], (path) => readdir(path))).rejects.toMatchObject({
      code: "ENOTDIR",
    });
  });
});

describe.skipIf(process.platform === "win32")("a lock", () => {
  const lock = (path: string): Promise<boolean> =>
    withFileLock({ path, mode: 0o600, timeoutMs: 10 }, async () => true);

  it("that is a link locks nothing and changes no mode", async () => {
    const [directory, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
    const file = join(elsewhere, "file");
    await writeFile(file, "");
    await chmod(file, 0o644);
    await symlink(file, join(directory, ".lock"));

    expect(await toldBy(lock(join(directory, ".lock")))).toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("cannot be followed (ELOOP). Remove the link and start again."),
    });
    expect((await stat(file)).mode & 0o777).toBe(0o644);
  });

  it("that is a fifo is not waited for", async () => {
    const path = join(await temporaryDirectory(), ".lock");
    makeFifo(path);

    expect(await toldBy(lock(path))).toMatchObject({
      code: "STORE_FAILED",
      message: `Could not lock ${path}: it is no ordinary file (ENXIO). Remove it and start again.`,
    });
  });
});

describe("the folder of a warehouse", () => {
  it("may be a link", async () => {
    const parent = await temporaryDirectory();
    await mkdir(join(parent, "disk"));
    await symlink(join(parent, "disk"), join(parent, "warehouse"));
    const store = storeIn(join(parent, "warehouse"));

    const version = (await store.create("a/key", bytes("one"))) ?? "";
    await store.replace("a/key", bytes("two"), version);

    expect(await readFile(join(parent, "disk", "a", "key"), "utf8")).toBe("two");
    expect(await keysOf(store)).toEqual(["a/key"]);
    await store.delete(["a/key"]);
    expect(await keysOf(store)).toEqual([]);
  });

  test.each([
    ["create", (store: DirectoryStore) => store.create("a/key", bytes("one"))],
    ["read", (store: DirectoryStore) => store.read("a/key")],
    ["open", (store: DirectoryStore) => store.open("a/key")],
    ["list", (store: DirectoryStore) => keysOf(store, "a/")],
    ["delete", (store: DirectoryStore) => store.delete(["a/key"])],
  ] as const)(
    "%s says that a link to it leads nowhere, and takes it for no missing warehouse",
    async (_, call) => {
      const link = join(await temporaryDirectory(), "link");
      await symlink("unmounted", link);

      expect(await toldBy(call(storeIn(join(link, "warehouse"))))).toMatchObject({
        code: "STORE_FAILED",
        message: expect.stringContaining(`the link ${link}: its target does not exist. Mount the target`),
      });
      expect(await readdir(dirname(link))).toEqual(["link"]);
    },
  );

  it("is not read through a file that became a fifo since it was looked at", async () => {
    const { directory, store } = await warehouse();
    const chunks = await store.open("views.sql");
    await rm(join(directory, "views.sql"));
    if (process.platform !== "win32") makeFifo(join(directory, "views.sql"));

    expect(await Array.fromAsync(chunks ?? [])).toEqual([]);
  });
});

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
  await store.delete(["other"]);
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

    await expect(store.delete(["key"])).rejects.toMatchObject({
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
