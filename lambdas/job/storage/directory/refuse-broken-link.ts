// A symbolic link that leads nowhere is no missing file: the disk behind it may not be mounted.

import { lstat, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { SyncError } from "../../errors/sync-error.ts";

/** Throws `STORE_FAILED` where `path` was not found because a link on the way to it, or itself, leads nowhere. */
export async function refuseBrokenLink(path: string): Promise<void> {
  for (let at = path; ; at = dirname(at)) {
    const found = await lstat(at).catch(() => undefined);
    if (found?.isSymbolicLink() && (await stat(at).catch(() => undefined)) === undefined) throw broken(at);
    if (found || dirname(at) === at) return;
  }
}

function broken(path: string): SyncError {
  return new SyncError(
    "STORE_FAILED",
    `Could not follow the link ${path}: what it leads to does not exist. Mount the disk it lies on, or remove the link, and start again.`,
    { fields: { path } },
  );
}
