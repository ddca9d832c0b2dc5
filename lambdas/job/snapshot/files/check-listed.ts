// What lies in the folder of a snapshot is what its manifest names: readers of a folder read every file of it.

import { FOLDERS, isOfLayout, layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { damaged } from "./damaged.ts";
import type { Manifest } from "./manifest.ts";

type Listed = Pick<Manifest, "account" | "snapshot_id" | "parts" | "stored">;

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
    if (takes(file) && !files.has(file)) throw foreign(key);
  }
}

/** Throws `STORE_CORRUPT` naming a file that the layout does not know in a folder that Athena reads whole. */
export async function checkNames(store: Store, account: string): Promise<void> {
  for (const folder of [FOLDERS.snapshots, FOLDERS.changes, FOLDERS.publications, FOLDERS.runLogs]) {
    for await (const { key } of store.list(`${folder}${account}/`)) {
      if (isOfLayout(key) || !isRead(key.slice(key.lastIndexOf("/") + 1))) continue;
      throw damaged(
        key,
        "it is no file of the warehouse, and Athena may read it as a part of a table",
        "Move it out of the warehouse.",
      );
    }
  }
}

/**
 * Before a snapshot is published, in one listing: exactly its parts are there, with their sizes, and it is not retired.
 * Throws `STORE_CORRUPT`.
 */
export async function checkListed(
  store: Store,
  { account, snapshot_id: snapshotId, parts, stored }: Listed,
): Promise<void> {
  const prefix = layout.snapshot(account, snapshotId);
  const sizes = new Map(parts.map(({ file }, index) => [`${prefix}${file}`, stored?.[index]?.bytes]));
  for await (const { key, bytes } of store.list(prefix)) {
    if (key === layout.retired(account, snapshotId)) throw retired(key);
    if (!isRead(key.slice(prefix.length))) continue;
    if (!sizes.has(key)) throw foreign(key);
    const expected = sizes.get(key);
    if (expected !== undefined && expected !== bytes)
      throw damaged(key, `it has ${bytes} bytes, and was written with ${expected}`, NEW_RUN);
    sizes.delete(key);
  }
  const [missing] = sizes.keys();
  if (missing !== undefined) throw damaged(missing, "it is missing", NEW_RUN);
}

const NEW_RUN = "Restore it from a backup or an older version, or start a new run.";

function retired(key: string): Error {
  return damaged(
    key,
    "the snapshot was retired meanwhile, and its files will be deleted",
    "Start a new run.",
  );
}

function foreign(key: string): Error {
  return damaged(
    key,
    "readers take it for a part of the snapshot, but the manifest does not name it",
    "Move it out of the warehouse.",
  );
}
