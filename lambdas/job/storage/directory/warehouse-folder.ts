// The way to a name in the warehouse: below its own folder there are folders and files, and nothing else is followed. And the
// way out: files are deleted by it, and each folder with its last one.

import { constants } from "node:fs";
import { lstat, open, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { isAccountFolder } from "../layout.ts";
import { syncDirectory } from "./durable-file.ts";
import { unlessMissing, unusable } from "./file-error.ts";

/**
 * Throws for the first of these names below `root` that is neither a folder nor a file. What is missing, or cannot be looked at,
 * is left to the call that follows.
 */
export async function requireReal(root: string, names: readonly string[]): Promise<void> {
  for (let depth = 1; depth <= names.length; depth += 1) {
    const name = names.slice(0, depth).join("/");
    if (!(await requireRealAt(join(root, name), root, name))) return;
  }
}

/** False where nothing is found. Throws for what is neither a folder nor a file. */
async function requireRealAt(path: string, root: string, name: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found && !found.isFile() && !found.isDirectory())
    throw unusable(root, name, isAccountFolder(`${name}/`));
  return found !== undefined;
}

/** Linux names an open folder so, whatever has its path meanwhile. */
const OPEN_FILES = "/proc/self/fd";
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/** Lets `work` use the folder at these names below `root`, on Linux by a path that leads there also if a link takes its place. */
export async function inFolder<T>(
  root: string,
  names: readonly string[],
  work: (path: string) => Promise<T>,
): Promise<T> {
  const hasOpenFiles =
    process.platform === "linux" && (await lstat(OPEN_FILES).catch(() => undefined)) !== undefined;
  if (!hasOpenFiles) return work(join(root, ...names));
  let folder = await open(root, FOLDER);
  try {
    for (const name of names) {
      const below = await open(`${OPEN_FILES}/${folder.fd}/${name}`, FOLDER | constants.O_NOFOLLOW);
      await folder.close();
      folder = below;
    }
    return await work(`${OPEN_FILES}/${folder.fd}`);
  } finally {
    await folder.close();
  }
}

/**
 * Deletes the files at these keys of `folder`, which is open at the path `at`. Each folder in it goes with its last file; one
 * that stays is synced.
 */
export async function deleteIn(
  root: string,
  at: string,
  folder: string,
  keys: readonly string[],
): Promise<void> {
  const nameOf = (key: string): string => key.slice(folder.length).split("/", 1)[0] ?? "";
  for (const [name, keysOfName] of Map.groupBy(keys, nameOf)) {
    const key = `${folder}${name}`;
    const entry = join(at, name);
    const path = join(root, key);
    await requireRealAt(entry, root, key);
    const below = keysOfName.filter((each) => each !== key);
    if (below.length < keysOfName.length) await unlessMissing(unlink(entry), "delete", path);
    if (below.length === 0) continue;
    const deleted = inFolder(at, [name], async (opened) => {
      await deleteIn(root, opened, `${key}/`, below);
      await rmdir(entry).catch(() => syncDirectory(opened));
    });
    await unlessMissing(deleted, "delete", path);
  }
}
