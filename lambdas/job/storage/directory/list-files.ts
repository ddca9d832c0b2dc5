// The keys below a directory in the order of a bucket: by code unit of the whole key, whatever the nesting.

import type { Dirent, Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { StoredKey } from "../store.ts";
import { fileError, isErrno, linkCycle } from "./file-error.ts";
import { refusedLinkOn } from "./open-folder.ts";
import { refuseBrokenLink } from "./refuse-broken-link.ts";

/**
 * Follows symbolic links, as reading and writing do. Skips names that start with a dot, and files that vanish
 * while they are listed. What lies behind a link where nothing is deleted has its name. Throws `STORE_FAILED` for a link without a target, or to a folder that it lies in.
 */
export async function* listFiles(root: string, prefix: string, after: string): AsyncIterable<StoredKey> {
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
    if (above.includes(identity)) throw linkCycle(path);
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
  for (const entry of await entriesOf(join(root, folder))) {
    const key = `${folder}${entry.name}`;
    if (entry.name.startsWith(".") || !key.startsWith(prefix)) continue;
    const target = entry.isSymbolicLink() ? await fileAt(join(root, key)) : entry;
    if (target) keys.push(target.isDirectory() ? `${key}/` : key);
  }
  return keys.sort();
}

async function entriesOf(path: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw fileError(error, "list", path);
  }
}

/** What is there, links followed; undefined where nothing is, nor can be below a file. */
async function fileAt(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (isErrno(error, "ENOTDIR")) return undefined;
    if (!isErrno(error, "ENOENT")) throw fileError(error, "list", path);
    await refuseBrokenLink(path);
    return undefined;
  }
}
