// Files that survive a power cut, content, then name, each synced to disk; and a lock on a file, which the kernel releases
// when its process dies: one process at a time.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, type FileHandle, link, mkdir, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { tryLock } from "fs-native-extensions";
import { codeOf, SyncError } from "../../errors/sync-error.ts";
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
    // The file may be gone again by now.
    const gone = await stat(path).then(
      (found) => (found.isDirectory() ? undefined : error),
      (reason: unknown) => reason,
    );
    if (gone !== undefined) {
      if (!isMissing) await refuseBrokenLink(path);
      throw fileError(isMissing ? error : gone, "make the directory", path);
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

const POLL_MS = 5;
/** A link would lead to a file that is no lock, and whose mode must not be changed. A fifo would wait for a reader. */
const TO_LOCK =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

interface FileLock {
  /** The file is created if absent. */
  readonly path: string;
  /** The mode of the file, where it is created. */
  readonly mode: number;
}

/**
 * Runs `work` while no other caller on this machine, in this process or another, holds the lock at `path`.
 * Polls instead of waiting in the kernel: a wait there takes a thread of the small pool that the holder's own
 * file calls need, so a few waiting callers would block it forever. The time is real because the other processes are.
 */
export async function withFileLock<T>(
  { timeoutMs, ...lock }: FileLock & { readonly timeoutMs: number },
  work: () => Promise<T>,
): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    await using held = await lockIfFree(lock);
    if (held !== undefined) return await work();
    if (waitedMs >= timeoutMs) throw stillLocked(lock.path, timeoutMs);
    await setTimeout(POLL_MS);
  }
}

/** The lock if it is free now, until it is given back or its process dies; undefined while another caller holds it. */
export async function lockIfFree({ path, mode }: FileLock): Promise<AsyncDisposable | undefined> {
  const failed = (error: unknown): never => {
    throw fileError(error, "lock", path);
  };
  const file = await open(path, TO_LOCK, mode).catch(failed);
  let isHeld = false;
  try {
    await keepReadersOut(file);
    isHeld = tryLock(file.fd);
  } catch (error) {
    failed(error);
  } finally {
    if (!isHeld) await file.close();
  }
  return isHeld ? file : undefined;
}

/**
 * A user with permission to read only could lock the file and keep out every writer. So only users with permission to
 * write may read it; on a file of another user only its owner can change that.
 */
async function keepReadersOut(file: FileHandle): Promise<void> {
  const mode = (await file.stat()).mode & 0o777;
  const readOnly = mode & 0o044 & ~(mode << 1);
  if (readOnly !== 0) await file.chmod(mode & ~readOnly).catch(() => undefined);
}

function stillLocked(path: string, timeoutMs: number): SyncError {
  return new SyncError(
    "STORE_FAILED",
    `Another process has held the lock ${path} for ${timeoutMs / 1000} s.`,
    {
      fields: { path, timeoutMs },
      next: "Find the process that hangs on this warehouse, end it, and start again.",
    },
  );
}
