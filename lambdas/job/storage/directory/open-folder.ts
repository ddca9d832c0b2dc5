// The way to a name in the warehouse: below its own folder there are folders and files, and nothing else is followed.

import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";
import { isAccountFolder } from "../layout.ts";
import { unusable } from "./file-error.ts";

export const isReal = (found: { isFile(): boolean; isDirectory(): boolean }): boolean =>
  found.isFile() || found.isDirectory();

/**
 * Throws for the first of these names below `root` that is neither a folder nor a file. What is missing, or cannot be looked at,
 * is left to the call that follows.
 */
export async function requireReal(root: string, names: readonly string[]): Promise<void> {
  for (let depth = 1; depth <= names.length; depth += 1) {
    const name = names.slice(0, depth).join("/");
    const found = await lstat(join(root, name)).catch(() => undefined);
    if (found === undefined) return;
    if (!isReal(found)) throw unusable(root, name, isAccountFolder(name));
  }
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
