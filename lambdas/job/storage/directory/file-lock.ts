// One process at a time: a lock on an open file, which the kernel releases when its process dies.

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { tryLock } from "fs-native-extensions";
import { SyncError } from "../../errors/sync-error.ts";
import { fileError } from "./file-error.ts";

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
    `Another process has held the lock ${path} for ${timeoutMs / 1000} s. Find the process that hangs on this warehouse, end it, and start again.`,
    { fields: { path, timeoutMs } },
  );
}
