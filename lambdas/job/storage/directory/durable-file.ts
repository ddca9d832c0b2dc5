// Writing files so that they survive a power cut: content, then name, each synced to disk.

import { createHash } from "node:crypto";
import { link, mkdir, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Body } from "../store.ts";
import { fileError, isErrno } from "./file-error.ts";
import { refuseBrokenLink } from "./refuse-broken-link.ts";

/** The version of a content: equal bytes have equal versions, as with an ETag. */
export const versionOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Writes a new file and syncs its content. What the body throws passes through unchanged; the file stays. */
export async function writeDurably(
  path: string,
  body: Body,
  mode: number,
): Promise<{ version: string; modifiedAtMs: number }> {
  const hash = createHash("sha256");
  const failed = (error: unknown): never => {
    throw fileError(error, "write", path);
  };
  const file = await open(path, "wx", mode).catch(failed);
  try {
    for await (const chunk of body instanceof Uint8Array ? [body] : body) {
      hash.update(chunk);
      await file.writeFile(chunk).catch(failed);
    }
    await file.sync().catch(failed);
    const { mtimeMs } = await file.stat().catch(failed);
    return { version: hash.digest("hex"), modifiedAtMs: mtimeMs };
  } finally {
    await file.close().catch(failed);
  }
}

/** Gives a written file its name if that is free: link(2) is atomic and never replaces. False where it was taken. */
export async function nameIfFree(written: string, name: string): Promise<boolean> {
  const taken = await link(written, name).then(
    () => false,
    (error: unknown) => {
      if (isErrno(error, "EEXIST")) return true;
      throw fileError(error, "link", name);
    },
  );
  // Also where it was taken: the caller then relies on the other file, whose name may not be on disk yet.
  await syncDirectory(dirname(name));
  return !taken;
}

/** Gives a written file a name in place of the file that has it: readers see the old one or the new one. */
export async function nameInPlace(written: string, name: string): Promise<void> {
  await rename(written, name).catch((error: unknown) => {
    throw fileError(error, "replace", name);
  });
  await syncDirectory(dirname(name));
}

/** Makes the directory and its parents, and syncs the names of those that are new. */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  const error = await makeOne(path, mode);
  if (error === undefined) return;
  const parent = dirname(path);
  if (!isErrno(error, "ENOENT") || parent === path) throw fileError(error, "make the directory", path);
  if (!(await isDirectory(parent))) await makeDirectory(parent, mode);
  // Tried once more: another process may have made the parent between the two looks. No further time, and not with
  // `recursive`: where the parent exists and takes no directory, as in /proc, Node would try for ever.
  const again = await makeOne(path, mode);
  if (again !== undefined) throw fileError(again, "make the directory", path);
}

/** The reason why there is no such directory, or undefined where there is one now. */
async function makeOne(path: string, mode: number): Promise<unknown> {
  const error = await mkdir(path, mode).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return syncDirectory(dirname(path));
  if (await isDirectory(path)) return undefined;
  await refuseBrokenLink(path);
  return error;
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

export async function syncDirectory(path: string): Promise<void> {
  // Windows opens no directory as a file, and keeps names in its journal anyway.
  if (process.platform === "win32") return;
  try {
    await using directory = await open(path, "r");
    await directory.sync();
  } catch (error) {
    throw fileError(error, "sync the directory", path);
  }
}
