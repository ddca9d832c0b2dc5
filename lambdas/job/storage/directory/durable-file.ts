// Writing files so that they survive a power cut: content, then name, each synced to disk.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, link, mkdir, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "../../errors/sync-error.ts";
import type { Body } from "../store.ts";
import { fileError, refuseBrokenLink } from "./file-error.ts";

/** The version of a content: equal bytes have equal versions, as with an ETag. */
export const versionOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/**
 * Writes a new file, syncs its content, and returns its version. What the body throws passes through unchanged; the file
 * stays.
 */
export async function writeDurably(path: string, body: Body, mode: number): Promise<string> {
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
    return hash.digest("hex");
  } finally {
    await file.close().catch(failed);
  }
}

/** Gives a written file its name if that is free: link(2) is atomic and never replaces. False where it was taken. */
export async function nameIfFree(written: string, name: string): Promise<boolean> {
  const taken = await link(written, name).then(
    () => false,
    (error: unknown) => {
      if (codeOf(error) === "EEXIST") return true;
      throw fileError(error, "link", name);
    },
  );
  // Also where it was taken: the caller then relies on the other file, whose name may not be on disk yet.
  await syncDirectory(dirname(name));
  return !taken;
}

/**
 * Gives a written file a name in place of the file that has it: readers see the old one or the new one.
 * @param shown the name in messages
 */
export async function nameInPlace(written: string, name: string, shown = name): Promise<void> {
  await rename(written, name).catch((error: unknown) => {
    throw fileError(error, "replace", shown);
  });
  await syncDirectory(dirname(name));
}

/**
 * Makes the directory and its parents, and syncs its name, also where it was there: the process that made it may have been
 * killed before that.
 */
export async function makeDirectory(path: string, mode: number, hasParent = false): Promise<void> {
  const parent = dirname(path);
  try {
    await mkdir(path, mode);
  } catch (error) {
    const isMissing = codeOf(error) === "ENOENT";
    if (isMissing && !hasParent && parent !== path) {
      await makeDirectory(parent, mode);
      // Not with `recursive`: where the parent takes no directory, as in /proc, Node would try for ever.
      return makeDirectory(path, mode, true);
    }
    const isThere = !isMissing && (await stat(path).catch(() => undefined))?.isDirectory();
    if (!isThere) {
      if (!isMissing) await refuseBrokenLink(path);
      throw fileError(error, "make the directory", path);
    }
    // The folder that a warehouse lies in need not be readable.
    if (
      await access(parent, constants.R_OK).then(
        () => false,
        () => true,
      )
    )
      return;
  }
  await syncDirectory(parent);
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
