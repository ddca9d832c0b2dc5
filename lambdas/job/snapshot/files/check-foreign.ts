// Checks that readers of a snapshot find only its own files.

import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { damaged } from "./damaged.ts";
import type { Manifest } from "./manifest.ts";

/** Athena reads all files below the prefix, except those whose name begins with "_" or ".". */
const isRead = (file: string): boolean => !/^[._]/.test(file);

/**
 * Throws `STORE_CORRUPT` naming a file that readers read and the manifest does not name.
 * @param takes which files readers read, by their names below the prefix; by default as Athena does
 */
export async function checkForeign(
  store: Store,
  { account, snapshot_id, parts }: Pick<Manifest, "account" | "snapshot_id" | "parts">,
  takes: (file: string) => boolean = isRead,
): Promise<void> {
  const prefix = layout.snapshot(account, snapshot_id);
  const files = new Set(parts.map(({ file }) => file));
  for await (const { key } of store.list(prefix)) {
    const file = key.slice(prefix.length);
    if (!takes(file) || files.has(file)) continue;
    throw damaged(
      key,
      "readers take it for a part of the snapshot, but the manifest does not name it",
      "Move it out of the warehouse.",
    );
  }
}
