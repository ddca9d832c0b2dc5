// One process at a time: a lock on an open file, which the kernel releases when its process dies.

import { open } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { tryLock } from "fs-native-extensions";
import { SyncError } from "../../lambdas/errors/sync-error.ts";
import { fileError } from "./file-error.ts";

const POLL_MS = 5;

/**
 * Runs `work` while no other caller on this machine, in this process or another, holds the lock at `path`.
 * Polls instead of waiting in the kernel: a wait there takes a thread of the small pool that the holder's own
 * file calls need, so a few waiting callers would stop it for good. The time is real, for so are the others.
 */
export async function withFileLock<T>(path: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const file = await open(path, "a").catch((error: unknown) => {
    throw fileError(error, "open", path);
  });
  try {
    for (let waitedMs = 0; !isGranted(file.fd, path); waitedMs += POLL_MS) {
      if (waitedMs >= timeoutMs) throw stillLocked(path, timeoutMs);
      await setTimeout(POLL_MS);
    }
    return await work();
  } finally {
    await file.close();
  }
}

function isGranted(fd: number, path: string): boolean {
  try {
    return tryLock(fd);
  } catch (error) {
    throw fileError(error, "lock", path);
  }
}

function stillLocked(path: string, timeoutMs: number): SyncError {
  return new SyncError(
    "STORE_FAILED",
    `Another process has held the lock ${path} for ${timeoutMs / 1000} s. Look for one that hangs on this warehouse and end it, then start again.`,
    { fields: { path, timeoutMs } },
  );
}
