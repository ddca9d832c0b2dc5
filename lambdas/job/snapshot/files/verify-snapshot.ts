// Verifies a snapshot: its manifest, and every part that the manifest names.

import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { verifyPart } from "./verify-part.ts";

/**
 * Reads all of it. Throws `STORE_CORRUPT` naming the first file that is missing or damaged.
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export async function verifySnapshot(
  store: Store,
  account: string,
  snapshotId: string,
  proceed?: () => void,
): Promise<Manifest> {
  const manifest = await readManifest(store, account, snapshotId);
  const prefix = layout.snapshot(account, snapshotId);
  for (const part of manifest.parts) await verifyPart(store, `${prefix}${part.file}`, part, { proceed });
  return manifest;
}
