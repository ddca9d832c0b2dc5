// The store as a directory: the same keys and guarantees as a bucket, also between processes.

import { createReadStream, type Stats } from "node:fs";
import { lstat, readdir, readFile, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { codeOf, SyncError } from "../../errors/sync-error.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { Random } from "../../runtime/random.ts";
import { type Body, checkKey, type Store, type StoredKey, type StoredObject } from "../store.ts";
import { nameIfFree, nameInPlace, syncDirectory, versionOf, writeDurably } from "./durable-file.ts";
import { fileError, refuseBrokenLink } from "./file-error.ts";
import { withFileLock } from "./file-lock.ts";
import { inFolder, refusedLinkOn } from "./open-folder.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const TEMPORARY = ".tmp";
/** How temporary files are named: nothing else is removed. */
const TOKEN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CHUNK_BYTES = 256 * 1024;

interface DirectoryStoreOptions {
  readonly directory: string;
  /** Names the temporary files. */
  readonly random: Pick<Random, "token">;
  /** How long `replace` and `delete` wait for another process (30 s). */
  readonly lockTimeoutMs?: number;
}

export class DirectoryStore implements Store {
  readonly directory: string;
  readonly #temporary: string;
  readonly #random: Pick<Random, "token">;
  readonly #lockTimeoutMs: number;
  #modes: NewModes | undefined;

  constructor({ directory, random, lockTimeoutMs = 30_000 }: DirectoryStoreOptions) {
    this.directory = resolve(directory);
    this.#temporary = join(this.directory, TEMPORARY);
    this.#random = random;
    this.#lockTimeoutMs = lockTimeoutMs;
  }

  async read(key: string): Promise<StoredObject | undefined> {
    const path = this.#path(key);
    const bytes = await unlessMissing(readFile(path), "read", path);
    return bytes && { bytes, version: versionOf(bytes) };
  }

  async open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const path = this.#path(key);
    // The file is opened when it is read, so a stream that is never read leaks nothing.
    return (await unlessMissing(stat(path), "read", path)) && chunks(path);
  }

  async create(key: string, body: Body): Promise<string | undefined> {
    const path = this.#path(key);
    return this.#withTemporary(body, async (temporary, version) => {
      const { directory } = await this.#newModes();
      return (await nameIfFree(temporary, path, directory)) ? version : undefined;
    });
  }

  /** As a second name of the same file. */
  async copy(from: string, to: string): Promise<boolean> {
    const { directory } = await this.#newModes();
    return nameIfFree(this.#path(from), this.#path(to), directory);
  }

  async replace(key: string, bytes: Uint8Array, version: string): Promise<string | undefined> {
    const path = this.#path(key);
    return this.#locked(async () => {
      if ((await this.read(key))?.version !== version) return undefined;
      return this.#withTemporary(bytes, (temporary, newVersion) =>
        this.#inFolderOf(key, "replace", async (at) => {
          await nameInPlace(temporary, at, path);
          return newVersion;
        }),
      );
    });
  }

  list(prefix: string, after = ""): AsyncIterable<StoredKey> {
    return listFiles(this.directory, prefix, after);
  }

  async delete(key: string): Promise<void> {
    const path = this.#path(key);
    // Under the lock, so that no `replace` that has just compared the version brings the file back.
    await this.#locked(async () => {
      const deleted = await this.#inFolderOf(key, "delete", (at) => unlink(at).then(() => true));
      if (deleted) await syncDirectory(dirname(path));
    });
  }

  /** Removes what killed processes left more than a day ago. A folder that is refused is named. */
  async tidy(nowMs: number, logger: Pick<Logger, "warn">): Promise<void> {
    try {
      await inFolder(this.directory, [TEMPORARY], async (folder) => {
        for (const name of (await readdir(folder)).filter((each) => TOKEN.test(each))) {
          const path = join(folder, name);
          if ((await lstat(path)).mtimeMs < nowMs - DAY_MS) await unlink(path);
        }
      });
    } catch (error) {
      // Another process may tidy at the same time; a file that stays does no harm and is removed next time.
      if (error instanceof SyncError) logger.warn(error.message);
    }
  }

  #path(key: string): string {
    checkKey(key);
    return join(this.directory, key);
  }

  /** Lets `work` use the file by a path through no refused link; undefined where there is none. */
  async #inFolderOf<T>(key: string, verb: string, work: (at: string) => Promise<T>): Promise<T | undefined> {
    const names = key.split("/");
    const file = names.pop() ?? "";
    const worked = inFolder(this.directory, names, (folder) => work(join(folder, file)));
    return unlessMissing(worked, verb, this.#path(key));
  }

  /** Without a warehouse there is nothing to replace or delete: undefined, and `work` does not run. */
  async #locked<T>(work: () => Promise<T>): Promise<T | undefined> {
    const path = join(this.directory, ".lock");
    if ((await unlessMissing(stat(this.directory), "read", this.directory)) === undefined) return undefined;
    const { file: mode } = await this.#newModes();
    return withFileLock({ path, mode, timeoutMs: this.#lockTimeoutMs }, work);
  }

  /** Read once: the first file creates the directory whose mode later files would copy. */
  async #newModes(): Promise<NewModes> {
    this.#modes ??= await newModes(this.directory);
    return this.#modes;
  }

  /** Writes the body to a file that no reader sees, lets `use` give it its name, and leaves nothing behind. */
  async #withTemporary<T>(body: Body, use: (path: string, version: string) => Promise<T>): Promise<T> {
    const modes = await this.#newModes();
    const temporary = join(this.#temporary, this.#random.token());
    try {
      const version = await writeDurably(temporary, body, modes.file, modes.directory);
      return await use(temporary, version);
    } finally {
      // A file that cannot be removed now is removed another day; the earlier error is the one to report.
      await unlink(temporary).catch(() => undefined);
    }
  }
}

async function* chunks(path: string): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: CHUNK_BYTES });
  } catch (error) {
    throw fileError(error, "read", path);
  }
}

async function unlessMissing<T>(operation: Promise<T>, verb: string, path: string): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw fileError(error, verb, path);
    await refuseBrokenLink(path);
    return undefined;
  }
}

/**
 * Follows symbolic links, as reading and writing do. Skips names that start with a dot, and files that vanish
 * while they are listed. What lies behind a link where nothing is deleted has its name. Throws `STORE_FAILED` for a link without a target, or to a folder that it lies in.
 */
async function* listFiles(root: string, prefix: string, after: string): AsyncIterable<StoredKey> {
  yield* listBelow(prefix.slice(0, prefix.lastIndexOf("/") + 1), [], undefined);

  async function* listBelow(
    folder: string,
    above: readonly string[],
    linkAbove: string | undefined,
  ): AsyncIterable<StoredKey> {
    const path = join(root, folder.slice(0, -1));
    const found = await fileAt(path);
    // A file there has no keys below it; in the place of the root it is reported.
    if (found === undefined || (folder !== "" && !found.isDirectory())) return;
    const identity = `${found.dev}:${found.ino}`;
    if (above.includes(identity)) throw fileError(CYCLE, "list", path);
    const names = folder.split("/").slice(0, -1);
    // Of the first folder the way to it too; the others were looked at one after the other.
    const known = above.length === 0 ? 0 : names.length - 1;
    const refusedLink =
      linkAbove ?? (await refusedLinkOn(join(root, ...names.slice(0, known)), names.slice(known)));
    for (const key of await keysIn(root, folder, prefix)) {
      if (!key.endsWith("/")) {
        const file = key > after ? await fileAt(join(root, key)) : undefined;
        if (file)
          yield { key, modifiedAtMs: file.mtimeMs, bytes: file.size, ...(refusedLink && { refusedLink }) };
      } else if (key > after || after.startsWith(key)) {
        yield* listBelow(key, [...above, identity], refusedLink);
      }
    }
  }
}

/**
 * The entries that begin with the prefix: files as keys, folders with a closing slash. In this order a folder comes where
 * its keys belong.
 */
async function keysIn(root: string, folder: string, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  const path = join(root, folder);
  const entries = await unlessMissing(readdir(path, { withFileTypes: true }), "list", path);
  for (const entry of entries ?? []) {
    const key = `${folder}${entry.name}`;
    if (entry.name.startsWith(".") || !key.startsWith(prefix)) continue;
    const target = entry.isSymbolicLink() ? await fileAt(join(root, key)) : entry;
    if (target) keys.push(target.isDirectory() ? `${key}/` : key);
  }
  return keys.sort();
}

/** What is there, links followed; undefined where nothing is, nor can be below a file. */
async function fileAt(path: string): Promise<Stats | undefined> {
  const found = stat(path).catch((error: unknown) => {
    if (codeOf(error) !== "ENOTDIR") throw error;
    return undefined;
  });
  return unlessMissing(found, "list", path);
}

/** Of links to a folder that they lie in: no single system call reports it. */
const CYCLE = Object.assign(new Error("a cycle of links"), { code: "ELOOP" });

/** The modes of new files and folders: private in a new warehouse, those of the directory in an existing one. */
interface NewModes {
  readonly directory: number;
  readonly file: number;
}

/**
 * A new warehouse is private. In an existing one, what is new has the rights of its directory, so that a team
 * keeps sharing it; the process's umask applies as usual.
 */
export async function newModes(directory: string): Promise<NewModes> {
  const existing = await stat(directory).catch(() => undefined);
  const mode = existing === undefined ? 0o700 : (existing.mode & 0o777) | 0o700;
  return { directory: mode, file: mode & 0o666 };
}
