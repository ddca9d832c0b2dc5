// Whether readers of a snapshot find its own files only.

import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { damaged } from "./damaged.ts";
import type { Manifest } from "./manifest.ts";

/** Athena takes all files below the prefix, but those whose name begins with "_" or ".". */
const isRead = (file: string): boolean => !/^[._]/.test(file);

/**
 * Throws `STORE_CORRUPT` naming a file that readers take and the manifest does not have.
 * @param takes which files readers take, by their names below the prefix; by default those that Athena does
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
      "readers take it for a part of the snapshot, and the manifest does not have it",
      "Move it out of the warehouse.",
    );
  }
}
