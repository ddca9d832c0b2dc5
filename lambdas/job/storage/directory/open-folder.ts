// The way to a folder of the warehouse for what is deleted or replaced there: a link that somebody else may have made leads
// nowhere.

import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { SyncError } from "../../errors/sync-error.ts";
import { refusedText } from "../store.ts";

/** Linux names an open folder so, whatever has its path meanwhile. */
const OPEN_FILES = "/proc/self/fd";
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Lets `work` use the folder at these names below `root`, by a path that on Linux leads to the opened folder, also if a
 * link takes its place. Throws `STORE_FAILED` for a refused link, and what the system throws.
 */
export async function inFolder<T>(
  root: string,
  names: readonly string[],
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (!(await hasOpenFiles())) {
    const path = join(root, ...names);
    const link = await refusedLinkOn(root, names);
    if (link !== undefined) throw refused(link);
    return work(path);
  }
  let folder = await open(root, FOLDER);
  try {
    let path = root;
    for (const name of names) {
      path = join(path, name);
      const below = await openBelow(pathOf(folder, name), path);
      await folder.close();
      folder = below;
    }
    return await work(pathOf(folder));
  } finally {
    await folder.close();
  }
}

/** The first of the folders at these names below `root` that is a link behind which nothing is deleted. */
export async function refusedLinkOn(root: string, names: readonly string[]): Promise<string | undefined> {
  let path = root;
  for (const name of names) {
    path = join(path, name);
    if (await isRefused(path)) return path;
  }
  return undefined;
}

/**
 * The first link on the way to `path`, itself included, that belongs neither to this user nor to the system's: they may
 * lead elsewhere tomorrow.
 */
export async function foreignLinkOn(path: string, user: number): Promise<string | undefined> {
  const parent = dirname(path);
  if (parent === path) return undefined;
  const before = await foreignLinkOn(parent, user);
  if (before !== undefined) return before;
  const found = await lstatIfThere(path);
  if (!found?.isSymbolicLink()) return undefined;
  return found.uid === user || found.uid === 0 ? foreignLinkOn(await targetOf(path), user) : path;
}

/** `at` is the same place as `path`, which is for messages. */
async function openBelow(at: string, path: string): Promise<FileHandle> {
  const folder = await open(at, FOLDER | constants.O_NOFOLLOW).catch(async (error: unknown) => {
    if (!(await lstatIfThere(at))?.isSymbolicLink()) throw error;
    return undefined;
  });
  if (folder !== undefined) return folder;
  const link = await lstat(at, { bigint: true });
  if (await isRefused(at)) throw refused(path);
  const linked = await open(at, FOLDER);
  // Another link may have been there for a moment.
  const [{ uid }, after] = await Promise.all([linked.stat({ bigint: true }), lstat(at, { bigint: true })]);
  if (uid === link.uid && after.ino === link.ino && after.ctimeNs === link.ctimeNs) return linked;
  await linked.close();
  throw refused(path);
}

/** A link is followed that belongs to the owner of what it leads to, and so does every link behind it. */
async function isRefused(path: string): Promise<boolean> {
  const link = await lstatIfThere(path);
  if (!link?.isSymbolicLink()) return false;
  const { uid } = await stat(path);
  return link.uid !== uid || (await foreignLinkOn(await targetOf(path), uid)) !== undefined;
}

async function targetOf(link: string): Promise<string> {
  return resolve(await realpath(dirname(link)), await readlink(link));
}

async function lstatIfThere(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

async function hasOpenFiles(): Promise<boolean> {
  return process.platform === "linux" && (await lstatIfThere(OPEN_FILES)) !== undefined;
}

const pathOf = (folder: FileHandle, ...names: readonly string[]): string =>
  [OPEN_FILES, folder.fd, ...names].join("/");

function refused(link: string): SyncError {
  return new SyncError("STORE_FAILED", refusedText(link), { fields: { path: link } });
}
