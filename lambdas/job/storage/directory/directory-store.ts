// The store as a directory: the same keys and guarantees as a bucket, also between processes. Below the directory's own
// folder it knows folders and files, and nothing else.

import { constants } from "node:fs";
import { lstat, open, readdir, readFile, rmdir, stat, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { codeOf, SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/clock.ts";
import { batches } from "../batches.ts";
import {
  formatRunId,
  isAccountFolder,
  isOfLayout,
  isPlace,
  KEPT_DAYS,
  layout,
  runInstant,
} from "../layout.ts";
import { type Body, checkKey, type Store, type StoredKey, type StoredObject } from "../store.ts";
import {
  makeDirectory,
  nameIfFree,
  nameInPlace,
  syncDirectory,
  versionOf,
  withFileLock,
  writeDurably,
} from "./durable-file.ts";
import { fileError, unlessMissing, unusable } from "./file-error.ts";
import { deleteIn, inFolder, requireReal } from "./warehouse-folder.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const TEMPORARY = ".tmp";
/** How temporary files are named: nothing else is removed. */
const TOKEN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CHUNK_BYTES = 256 * 1024;
/** So many files are deleted under one lock, in about a second; then others that wait for it have their turn. */
const DELETED_AT_ONCE = 1_000;
const OTHERS_TURN_MS = 20;
/** Neither follows a link nor waits for another process, also if something else takes the place of the file. */
const TO_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

interface DirectoryStoreOptions {
  readonly directory: string;
  /** Names the temporary files. */
  readonly random: Pick<Random, "token">;
  /** How long `replace` and `delete` wait for another process (30 s). */
  readonly lockTimeoutMs?: number;
}

export class DirectoryStore implements Store {
  readonly directory: string;
  readonly #random: Pick<Random, "token">;
  readonly #lockTimeoutMs: number;
  /** The folders whose names are certainly on disk, each by its path: another one may have the path by now. */
  readonly #synced = new Map<string, string>();
  #modes: NewModes | undefined;

  constructor({ directory, random, lockTimeoutMs = 30_000 }: DirectoryStoreOptions) {
    this.directory = resolve(directory);
    this.#random = random;
    this.#lockTimeoutMs = lockTimeoutMs;
  }

  async read(key: string): Promise<StoredObject | undefined> {
    const path = await this.#pathOf(key);
    const bytes = await unlessMissing(readFile(path, { flag: TO_READ }), "read", path);
    return bytes && { bytes, version: versionOf(bytes) };
  }

  async open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const path = await this.#pathOf(key);
    // The file is opened when it is read, so a stream that is never read leaks nothing.
    return (await unlessMissing(stat(path), "read", path)) && chunks(path);
  }

  async create(key: string, body: Body): Promise<string | undefined> {
    const path = await this.#pathOf(key);
    return this.#withTemporary(body, async (temporary, version) =>
      (await this.#name(temporary, key, path)) ? version : undefined,
    );
  }

  /** Copies by a second name of the same file. */
  async copy(from: string, to: string): Promise<boolean> {
    return this.#name(await this.#pathOf(from), to, await this.#pathOf(to));
  }

  async replace(key: string, bytes: Uint8Array, version: string): Promise<string | undefined> {
    checkKey(key);
    return this.#locked(async () => {
      if ((await this.read(key))?.version !== version) return undefined;
      const path = await this.#pathOf(key);
      const folders = key.split("/");
      const file = folders.pop() ?? "";
      return this.#withTemporary(bytes, (temporary, newVersion) => {
        const replaced = inFolder(this.directory, folders, async (folder) => {
          await nameInPlace(temporary, join(folder, file), path);
          return newVersion;
        });
        return unlessMissing(replaced, "replace", path);
      });
    });
  }

  list(prefix: string, after = ""): AsyncIterable<StoredKey> {
    return listFiles(this.directory, prefix, after);
  }

  /** A folder goes with its last file; the warehouse's own stays. */
  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) checkKey(key);
    for (const [index, some] of [...batches(keys, DELETED_AT_ONCE)].entries()) {
      if (index > 0) await setTimeout(OTHERS_TURN_MS);
      const deleted = (): Promise<void> =>
        inFolder(this.directory, [], async (at) => {
          await deleteIn(this.directory, at, "", some);
          await syncDirectory(at);
        });
      // Under the lock, so that no `replace` that has just compared the version brings a file back.
      await this.#locked(() => unlessMissing(deleted(), "delete", this.directory));
    }
  }

  /**
   * Removes what killed processes left more than a day ago, and the account's old folders of runs that lack a file: earlier
   * versions left them. Another process may tidy at the same time; what stays does no harm and is removed next time.
   */
  async tidy(nowMs: number, account: string): Promise<void> {
    await this.#pathTo([TEMPORARY]);
    const files = inFolder(this.directory, [TEMPORARY], async (folder) => {
      for (const name of (await readdir(folder)).filter((each) => TOKEN.test(each))) {
        const path = join(folder, name);
        if ((await lstat(path)).mtimeMs < nowMs - DAY_MS) await unlink(path);
      }
    });
    await files.catch(() => undefined);

    const oldest = formatRunId(nowMs - KEPT_DAYS.runs * DAY_MS);
    const folders = inFolder(this.directory, layout(account).runs.split("/").slice(0, -1), async (folder) => {
      const old = (await readdir(folder)).filter((name) => runInstant(name) !== undefined && name < oldest);
      const removed = async (): Promise<void> => {
        for (const name of old) await rmdir(join(folder, name)).catch(() => undefined);
      };
      if (old.length > 0) await this.#locked(removed);
    });
    await folders.catch(() => undefined);
  }

  #pathOf(key: string): Promise<string> {
    checkKey(key);
    return this.#pathTo(key.split("/"));
  }

  async #pathTo(names: readonly string[]): Promise<string> {
    await requireReal(this.directory, names);
    return join(this.directory, ...names);
  }

  /** Gives a written file the name of the key. False where it was taken. */
  async #name(written: string, key: string, path: string): Promise<boolean> {
    const name = async (): Promise<boolean> => {
      await this.#makeFolders(key.split("/").slice(0, -1));
      return nameIfFree(written, path);
    };
    return name().catch(async (error: unknown) => {
      if (!(error instanceof SyncError) || error.fields["errno"] !== "ENOENT") throw error;
      // A deletion may have taken the folder before the file was in it. It has the lock.
      const named = await this.#locked(name);
      if (named === undefined) throw error;
      return named;
    });
  }

  /** The directory and these folders in it, one in the other, with their names on disk. */
  async #makeFolders(names: readonly string[]): Promise<void> {
    const { directory: mode } = await this.#newModes();
    for (let depth = 0; depth <= names.length; depth += 1) {
      const folder = join(this.directory, ...names.slice(0, depth));
      const identity = await identityOf(folder);
      if (identity !== undefined && identity === this.#synced.get(folder)) continue;
      await makeDirectory(folder, mode);
      this.#synced.set(folder, (await identityOf(folder)) ?? "");
    }
  }

  /** Without a warehouse there is nothing to replace or delete: undefined, and `work` does not run. */
  async #locked<T>(work: () => Promise<T>): Promise<T | undefined> {
    const path = await this.#pathTo([".lock"]);
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
    const { file: mode } = await this.#newModes();
    const temporary = join(await this.#pathTo([TEMPORARY]), this.#random.token());
    await this.#makeFolders([TEMPORARY]);
    try {
      const version = await writeDurably(temporary, body, mode);
      return await use(temporary, version);
    } finally {
      // A file that cannot be removed now is removed another day; the earlier error is the one to report.
      await unlink(temporary).catch(() => undefined);
    }
  }
}

async function* chunks(path: string): AsyncIterable<Uint8Array> {
  try {
    await using file = await open(path, TO_READ);
    yield* file.createReadStream({ highWaterMark: CHUNK_BYTES, autoClose: false });
  } catch (error) {
    throw fileError(error, "read", path);
  }
}

/** Another folder that gets the path later is another one. */
async function identityOf(folder: string): Promise<string | undefined> {
  const found = await lstat(folder, { bigint: true }).catch(() => undefined);
  return found && `${found.ino} ${found.birthtimeNs}`;
}

/**
 * Skips names that start with a dot, files that vanish while they are listed, and what is neither a file nor a folder where
 * the layout has no name. Throws for such a thing where it has one, and for a folder in the place of a file. What ends the list
 * of an account's folder is a key in a wider list.
 */
async function* listFiles(root: string, prefix: string, after: string): AsyncIterable<StoredKey> {
  const first = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  await requireReal(root, first.split("/").slice(0, -1));
  yield* listBelow(first);

  async function* listBelow(folder: string): AsyncIterable<StoredKey> {
    for (const key of await keysIn(root, folder, prefix)) {
      if (key.endsWith("/")) {
        if (key > after || after.startsWith(key))
          yield* isAccountFolder(key) ? ofAccount(key) : listBelow(key);
        continue;
      }
      const path = join(root, key);
      const found = key > after ? await unlessMissing(lstat(path), "list", path) : undefined;
      if (found) yield { key, modifiedAtMs: found.mtimeMs, bytes: found.size };
    }
  }

  async function* ofAccount(folder: string): AsyncIterable<StoredKey> {
    try {
      yield* listFiles(root, folder, after);
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      yield { key: folder, modifiedAtMs: 0, bytes: 0 };
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
  const entries = readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    // A file there has no keys below it; in the place of the root it is reported.
    if (codeOf(error) !== "ENOTDIR" || folder === "") throw error;
    return [];
  });
  for (const entry of (await unlessMissing(entries, "list", path)) ?? []) {
    const key = `${folder}${entry.name}`;
    if (entry.name.startsWith(".") || !key.startsWith(prefix)) continue;
    // As reading it would say: a list without it would be one of something else.
    if (entry.isDirectory() && isOfLayout(key))
      throw fileError(Object.assign(new Error(), { code: "EISDIR" }), "read", join(root, key));
    if (entry.isFile()) keys.push(key);
    else if (entry.isDirectory() || isAccountFolder(`${key}/`)) keys.push(`${key}/`);
    else if (isPlace(key)) throw unusable(root, key, false);
  }
  return keys.sort();
}

/** The modes of new files and folders: private in a new warehouse, those of the directory in an existing one. */
interface NewModes {
  readonly directory: number;
  readonly file: number;
}

/**
 * A new warehouse is private. In an existing one, what is new has the rights of its directory, so that a team
 * keeps sharing it; the process's umask applies as usual.
 */
async function newModes(directory: string): Promise<NewModes> {
  const existing = await stat(directory).catch(() => undefined);
  const mode = existing === undefined ? 0o700 : (existing.mode & 0o777) | 0o700;
  return { directory: mode, file: mode & 0o666 };
}
