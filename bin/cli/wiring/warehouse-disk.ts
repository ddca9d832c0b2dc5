// Whether the disk of a warehouse is there. Where it is not mounted, its folder is empty, and looks like a new warehouse or
// like one that has lost everything. A bucket is not asked.

import { lstat, readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { hasPublishedFiles } from "../../../lambdas/job/snapshot/files/units.ts";
import { createColumns } from "../../../lambdas/job/snapshot/rows/table-columns.ts";
import type { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import { accountsIn } from "../../../lambdas/job/storage/known-accounts.ts";
import { COLUMNS_FILE, FOLDERS } from "../../../lambdas/job/storage/layout.ts";

/** How a run was started. */
interface Started {
  /** No person has started it. */
  readonly isUnattended: boolean;
  readonly fresh: boolean;
  readonly overDamaged: boolean;
}

/**
 * Marks a new warehouse as one. Writes nothing before it throws `STORE_FAILED`: where a run that no person has started finds
 * no warehouse in a folder that exists, or whose parent is empty, and where all files that readers see are gone.
 */
export async function requireDisk(
  store: DirectoryStore,
  { isUnattended, fresh, overDamaged }: Started,
): Promise<void> {
  if (await isWarehouse(store)) {
    if (!(fresh && overDamaged)) await requireFiles(store);
    return;
  }
  if (isUnattended && !fresh && !(await mayBeMade(store.directory))) throw notThere(store.directory);
  await createColumns(store);
}

/** Throws `STORE_FAILED` where snapshots are published, and none of them has a file: that is no damage. */
export async function requireFiles(store: DirectoryStore): Promise<void> {
  if (await hasPublishedFiles(store)) return;
  throw new SyncError(
    "STORE_FAILED",
    `No published snapshot in ${store.directory} has any file: is the disk there? Mount it, and start again. If the files are lost, start run --fresh --over-damaged.`,
  );
}

async function isWarehouse(store: DirectoryStore): Promise<boolean> {
  if ((await store.read(COLUMNS_FILE)) !== undefined) return true;
  return (await accountsIn(store, FOLDERS.publications)).length > 0;
}

/** What lies beside a folder that is missing shows that its disk is there. */
async function mayBeMade(directory: string): Promise<boolean> {
  if ((await lstat(directory).catch(() => undefined)) !== undefined) return false;
  return (await readdir(dirname(directory)).catch(() => [])).length > 0;
}

function notThere(directory: string): SyncError {
  return new SyncError(
    "STORE_FAILED",
    `There is no warehouse in ${directory}: is the disk there? If it is to be a new one, start the first run by hand, or once with --fresh.`,
  );
}
