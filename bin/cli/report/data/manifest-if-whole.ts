// A manifest for the report, which other damage must not hide.

import { isDamage } from "../../../../lambdas/job/errors/sync-error.ts";
import { type Manifest, readManifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";

/** Undefined where retention has deleted it, or it is damaged: `check` reports damage. */
export async function manifestIfWhole(
  store: Store,
  account: string,
  snapshotId: string,
): Promise<Manifest | undefined> {
  try {
    return await readManifest(store, account, snapshotId);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
