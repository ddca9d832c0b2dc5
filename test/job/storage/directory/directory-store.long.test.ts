// The store in a directory keeps the contract, between processes too, and says what is wrong with the disk.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { tryLock } from "fs-native-extensions";
import { describe, expect, it } from "vitest";
import { systemRandom } from "../../../../lambdas/job/runtime/clock.ts";
import { DirectoryStore } from "../../../../lambdas/job/storage/directory/directory-store.ts";
import { toldBy } from "../../../words/said.ts";
import { storeContract } from "../store-contract.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const PROGRAM = join(import.meta.dirname, "store-process.ts");
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);

const storeIn = (directory: string, lockTimeoutMs?: number): DirectoryStore =>
  new DirectoryStore({ directory, random: systemRandom, ...(lockTimeoutMs && { lockTimeoutMs }) });

function start(task: string, directory: string): ChildProcessByStdio<null, Readable, null> {
  return spawn(process.execPath, [PROGRAM, task, directory], { stdio: ["ignore", "pipe", "inherit"] });
}

const run = (task: string, directory: string): Promise<string> => text(start(task, directory).stdout);

/** Starts a task that never ends, and kills the process when it has said that it is in the middle. */
async function killInTheMiddleOf(task: string, directory: string): Promise<void> {
  const child = start(task, directory);
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
}

storeContract("DirectoryStore", async () => storeIn(join(await temporaryDirectory(), "warehouse")));

describe("a copy in a directory", () => {
  it("is a second name of the same file, so it takes no room", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await store.create("runs/rows", bytes("rows"));

    await store.copy("runs/rows", "snapshots/part");

    const [from, to] = await Promise.all(
      ["runs/rows", "snapshots/part"].map((key) => stat(join(directory, key))),
    );
    expect(to?.ino).toBe(from?.ino);
    expect(to?.nlink).toBe(2);
  });
});

describe("DirectoryStore between processes", () => {
  it("lets one of two processes create each of 200 keys", async () => {
    const directory = await temporaryDirectory();

    const [first, second] = await Promise.all([run("create", directory), run("create", directory)]);

    const won: readonly string[] = [...JSON.parse(first), ...JSON.parse(second)];
    expect(won).toHaveLength(200);
    expect(new Set(won).size).toBe(200);
  });

  it("loses none of the 200 updates that each of two processes makes", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await store.create("counter", bytes("0"));

    await Promise.all([run("increment", directory), run("increment", directory)]);

    expect(new TextDecoder().decode((await store.read("counter"))?.bytes)).toBe("400");
  });

  it("makes the folders again that another process deletes with their last file", async () => {
    const directory = await temporaryDirectory();

    const missing = await Promise.all(["one", "two", "three"].map(() => run("come-and-go", directory)));

    expect(missing).toEqual(["[]", "[]", "[]"]);
    expect((await readdir(directory)).sort()).toEqual([".lock", ".tmp"]);
  });

  it("shows nothing of what a killed process was creating", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);

    await killInTheMiddleOf("stall", directory);

    expect(await readdir(join(directory, ".tmp"))).toHaveLength(1);
    expect(await Array.fromAsync(store.list(""))).toEqual([]);
    expect(await store.create("stalled", bytes("whole"))).toBeDefined();
  });

  it("is free of a killed process's lock at once", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory, 1);
    const version = (await store.create("key", bytes("one"))) ?? "";

    await killInTheMiddleOf("hold", directory);

    expect(await store.replace("key", bytes("two"), version)).toBeDefined();
  });

  it("gives up on a lock that another process keeps, and names it", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory, 20);
    const version = (await store.create("key", bytes("one"))) ?? "";
    await using lock = await open(join(directory, ".lock"), "a");
    tryLock(lock.fd);

    await expect(store.replace("key", bytes("two"), version)).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining(`the lock ${join(directory, ".lock")} for 0.02 s`),
    });
    await expect(store.delete(["key"])).rejects.toMatchObject({ code: "STORE_FAILED" });
  });
});

describe("DirectoryStore on a disk", () => {
  it("leaves no temporary file behind, whatever the outcome", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    async function* failing(): AsyncIterable<Uint8Array> {
      yield bytes("half");
      throw new Error("the producer failed");
    }

    const version = (await store.create("key", bytes("one"))) ?? "";
    await store.create("key", bytes("taken"));
    await store.replace("key", bytes("two"), version);
    await expect(store.create("other", failing())).rejects.toThrow("the producer failed");

    expect(await readdir(join(directory, ".tmp"))).toEqual([]);
  });

  it("makes a folder again that was deleted meanwhile, whatever it is for", async () => {
    const directory = join(await temporaryDirectory(), "warehouse");
    const store = storeIn(directory);
    await store.create("a/b/one", bytes("one"));

    for (const folder of ["a/b", "a", ".tmp", ""]) {
      await rm(join(directory, folder), { recursive: true });
      await store.delete(["a/b/two"]);
      expect(await store.create("a/b/two", bytes("two"))).toBeDefined();
      expect(await store.create("a/b/two", bytes("three"))).toBeUndefined();
      expect(new TextDecoder().decode((await store.read("a/b/two"))?.bytes)).toBe("two");
    }
  });

  it("deletes a folder with its last file, and no folder that has another one", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    const keys = ["a/b/one", "a/b/two", "a/c/three", "a/c/d/four", "e/f/g/five", "six"];
    for (const key of keys) await store.create(key, bytes(key));
    await writeFile(join(directory, "a", "c", "d", ".DS_Store"), "not ours");
    const foldersNow = async (): Promise<readonly string[]> =>
      (await readdir(directory, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isDirectory())
        .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
        .sort();

    await store.delete(["a/b/one", "a/c/d/four", "e/f/g/five"]);
    const some = await foldersNow();
    await store.delete(keys);

    expect(some).toEqual([".tmp", "a", "a/b", "a/c", "a/c/d"]);
    expect(await foldersNow()).toEqual([".tmp", "a", "a/c", "a/c/d"]);
  });

  it("keeps the folder of the warehouse, and what works on it goes on", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await store.create("a/key", bytes("one"));

    await store.delete(["a/key"]);

    expect((await readdir(directory)).sort()).toEqual([".lock", ".tmp"]);
    expect(await store.create("a/key", bytes("two"))).toBeDefined();
    expect(await store.copy("a/key", "a/b/c/key")).toBe(true);
  });

  it("lets another process write between two thousand files of a list", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    const version = (await store.create("key", bytes("one"))) ?? "";
    const keys = Array.from({ length: 3_000 }, (_, n) => `a/${n % 10}/${n}`);
    for (const key of keys) {
      await mkdir(join(directory, dirname(key)), { recursive: true });
      await writeFile(join(directory, key), "two");
    }

    const deleting = store.delete(keys);
    await storeIn(directory).replace("key", bytes("two"), version);
    const left = (await Array.fromAsync(store.list("a/"))).length;
    await deleting;

    expect(left).toBeGreaterThan(0);
    expect(await Array.fromAsync(store.list("a/"))).toEqual([]);
  });

  it("removes old folders of runs that earlier versions left empty, of this account and no others", async () => {
    const directory = await temporaryDirectory();
    const [old, young] = ["2026-01-01T00-00-00.000Z", "2026-01-19T00-00-00.000Z"];
    const folders = [`uk/${old}`, `uk/${young}`, "uk/notes", `de/${old}`, "uk/2025-12-31T00-00-00.000Z"];
    for (const folder of folders) await mkdir(join(directory, "runs", folder), { recursive: true });
    await writeFile(join(directory, "runs", "uk", "2025-12-31T00-00-00.000Z", "notes"), "not ours");

    await storeIn(directory).tidy(Date.UTC(2026, 0, 20), "uk");

    expect((await readdir(join(directory, "runs", "uk"))).sort()).toEqual([
      "2025-12-31T00-00-00.000Z",
      young,
      "notes",
    ]);
    expect(await readdir(join(directory, "runs", "de"))).toEqual([old]);
  });

  it("removes temporary files older than a day, no younger ones and none of another name", async () => {
    const directory = await temporaryDirectory();
    const temporary = join(directory, ".tmp");
    await mkdir(temporary);
    const [old, young] = [systemRandom.token(), systemRandom.token()];
    for (const name of [old, young, "notes"]) await writeFile(join(temporary, name), "left behind");
    const yesterday = Date.now() / 1000 - 25 * 60 * 60;
    for (const name of [old, "notes"]) await utimes(join(temporary, name), yesterday, yesterday);

    await storeIn(directory).tidy(Date.now(), "uk");

    expect((await readdir(temporary)).sort()).toEqual([young, "notes"].sort());
  });

  it("lists nothing whose name starts with a dot", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await store.create("a/key", bytes("one"));
    await writeFile(join(directory, "a", ".DS_Store"), "not ours");
    await mkdir(join(directory, ".git"));
    await writeFile(join(directory, ".git", "config"), "not ours");

    const listed = await Array.fromAsync(store.list(""));

    expect(listed.map(({ key }) => key)).toEqual(["a/key"]);
  });

  it("gives the file's own time of modification", async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await store.create("key", bytes("one"));

    const [listed] = await Array.fromAsync(store.list(""));

    expect(listed?.modifiedAtMs).toBe((await stat(join(directory, "key"))).mtimeMs);
  });

  it("makes no directory by reading, listing or deleting", async () => {
    const directory = join(await temporaryDirectory(), "warehouse");
    const store = storeIn(directory);

    await store.read("key");
    await Array.fromAsync(store.list(""));
    await store.delete(["key"]);
    await store.replace("key", bytes("one"), "version");

    await expect(stat(directory)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it.each([
    ["create", (store: DirectoryStore) => store.create("a/key", bytes("one"))],
    ["read", (store: DirectoryStore) => store.read("a/key")],
    ["open", (store: DirectoryStore) => store.open("a/key")],
    ["list", (store: DirectoryStore) => Array.fromAsync(store.list(""))],
    ["replace", (store: DirectoryStore) => store.replace("a/key", bytes("one"), "version")],
    ["delete", (store: DirectoryStore) => store.delete(["a/key"])],
  ] as const)("says on %s that a file is in the warehouse's place", async (_, call) => {
    const directory = join(await temporaryDirectory(), "warehouse");
    await writeFile(directory, "a file");

    expect(await toldBy(call(storeIn(directory)))).toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringMatching(
        /Could not .*warehouse.*: a file is where a directory should be \(E\w+\)\..*--warehouse/,
      ),
    });
  });

  it("says that a file became too large, and leaves nothing behind", async () => {
    const directory = await temporaryDirectory();
    const limited = 'ulimit -f 100; exec "$0" "$1" large "$2"';
    const child = spawn("sh", ["-c", limited, process.execPath, PROGRAM, directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });

    const said = await text(child.stdout);

    expect(said).toContain("the file would be larger than the limit for files (`ulimit -f`)");
    expect(await Array.fromAsync(storeIn(directory).list(""))).toEqual([]);
    expect(await readdir(join(directory, ".tmp"))).toEqual([]);
  });
});
