// Verifies a snapshot: its manifest, and every part that the manifest names.

import * as z from "zod";
import { damaged, RESTORE, SyncError } from "../../errors/sync-error.ts";
import { FOLDERS, isOfLayout } from "../../storage/layout.ts";
import { hasChanges, type PublishedUnits } from "../../storage/publication.ts";
import { RETIRED, snapshotNotFound } from "../../storage/snapshot-marks.ts";
import type { AccountStore, StoredKey } from "../../storage/store.ts";
import { readLines } from "./gzip-lines.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { verifyPart } from "./parts.ts";

/**
 * Reads all of it. Throws `STORE_CORRUPT` naming the first file that is missing or damaged.
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export async function verifySnapshot(
  store: AccountStore,
  snapshotId: string,
  proceed?: () => void,
): Promise<Manifest> {
  const manifest = await readManifest(store, snapshotId);
  const prefix = store.keys.snapshot(snapshotId);
  for (const part of manifest.parts) await verifyPart(store, `${prefix}${part.file}`, part, { proceed });
  return manifest;
}

/** Verifies a publication's changes by gzip's own checksum and by their number. */
const CHANGE = z.object({ change: z.enum(["added", "changed", "removed"]) });

/**
 * Reads all of them. Throws `STORE_CORRUPT` naming the file, or the folder where they are not as many as the
 * publication says.
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export async function verifyChanges(
  store: AccountStore,
  publication: PublishedUnits,
  proceed: () => void,
): Promise<void> {
  if (!hasChanges(publication)) return;
  const prefix = store.keys.changes(publication.publication, publication.snapshot_id);
  const found = { added: 0, changed: 0, removed: 0 };
  for await (const { key } of store.list(prefix)) {
    if (!isOfLayout(key) || !isRead(key.slice(prefix.length))) continue;
    const chunks = await store.open(key);
    if (chunks === undefined) throw damaged(key, "it was listed but no longer exists", RESTORE);
    for await (const line of readLines(chunks, key, RESTORE)) {
      proceed();
      found[kindOf(line, key)] += 1;
    }
  }
  const { added, changed, removed } = publication;
  if (found.added === added && found.changed === changed && found.removed === removed) return;
  throw damaged(
    prefix,
    `it has ${found.added} added, ${found.changed} changed and ${found.removed} removed, but the publication says ${added}, ${changed} and ${removed}`,
    RESTORE,
  );
}

function kindOf(line: string, key: string): z.infer<typeof CHANGE>["change"] {
  try {
    return CHANGE.parse(JSON.parse(line)).change;
  } catch {
    throw damaged(key, "it holds a line that is not a change", RESTORE); // the parser's own error quotes the line
  }
}

/** Athena reads all files below the prefix, except those whose name begins with "_" or ".". */
const isRead = (file: string): boolean => !/^[._]/.test(file);

/** Throws `STORE_CORRUPT` naming a file that readers read and the manifest does not name. */
export async function checkForeign(
  store: AccountStore,
  { snapshot_id, parts }: Pick<Manifest, "snapshot_id" | "parts">,
): Promise<void> {
  const prefix = store.keys.snapshot(snapshot_id);
  const files = new Set(parts.map(({ file }) => file));
  for await (const { key } of store.list(prefix)) {
    const file = key.slice(prefix.length);
    if (isRead(file) && !files.has(file)) throw foreign(key);
  }
}

/**
 * Looks at the lists of the folders that Athena reads whole. Throws `STORE_CORRUPT` naming a file that the layout does not
 * know, `STORE_FAILED` for files that are archived.
 */
export async function checkFolders(store: AccountStore): Promise<void> {
  const archived: StoredKey[] = [];
  for (const folder of [FOLDERS.snapshots, FOLDERS.changes, FOLDERS.publications, FOLDERS.runLogs]) {
    for await (const file of store.list(`${folder}${store.account}/`)) {
      const { key } = file;
      if (file.archivedAs !== undefined) archived.push(file);
      if (isOfLayout(key) || !isRead(key.slice(key.lastIndexOf("/") + 1))) continue;
      throw damaged(
        key,
        "it is not a file of the warehouse, and Athena may read it as a part of a table",
        "Move it out of the warehouse.",
      );
    }
  }
  const [first, ...others] = archived;
  if (first === undefined) return;
  const { key, archivedAs = "" } = first;
  const more = others.length === 0 ? "" : ` The same holds for ${others.length} other files.`;
  throw new SyncError(
    "STORE_FAILED",
    `Could not read ${key}: it was archived (${archivedAs}), and cannot be read before it is restored.${more}`,
    {
      fields: { key },
      next: 'Restore them, and take away what archives them (docs/cdk.md, "A bucket that exists").',
    },
  );
}

/**
 * Before something is published, in one listing of a folder that readers read whole: exactly these parts are there, with
 * their sizes, and a snapshot is not retired. Throws `STORE_CORRUPT`, and `SNAPSHOT_NOT_FOUND` for a retired one.
 */
export async function checkListed(
  store: AccountStore,
  prefix: string,
  { parts, stored }: Pick<Manifest, "parts" | "stored">,
): Promise<void> {
  const sizes = new Map(parts.map(({ file }, index) => [`${prefix}${file}`, stored?.[index]?.bytes]));
  for await (const { key, bytes } of store.list(prefix)) {
    if (key === `${prefix}_retired.json`)
      throw snapshotNotFound(key.split("/").at(-2) ?? "", RETIRED, "Start a new run.");
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

function foreign(key: string): Error {
  return damaged(
    key,
    "readers take it for a part, but it is not one of those that were written",
    "Move it out of the warehouse.",
  );
}
