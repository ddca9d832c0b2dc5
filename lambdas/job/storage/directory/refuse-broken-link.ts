// A symbolic link whose target does not exist is not a missing file: the target's disk may not be mounted.

import { lstat, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { SyncError } from "../../errors/sync-error.ts";

/** Throws `STORE_FAILED` where `path` was not found because it, or a link on the way to it, has no target. */
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
    `Could not follow the link ${path}: its target does not exist. Mount the target's disk, or remove the link, and start again.`,
    { fields: { path } },
  );
}
