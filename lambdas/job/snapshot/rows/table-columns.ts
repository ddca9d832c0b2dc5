// `columns.json`: the columns of one's own that the tables have, where each account has them from, and their types.

import * as z from "zod";
import { RESTORE, undefinedIfDamaged } from "../../errors/sync-error.ts";
import { liftedSchema } from "../../settings/lifted-column.ts";
import { accountsIn } from "../../storage/known-accounts.ts";
import { COLUMNS_FILE, FOLDERS } from "../../storage/layout.ts";
import { newestReadable } from "../../storage/publication-log.ts";
import {
  type AccountStore,
  accountStore,
  jsonBytes,
  parseJson,
  type Store,
  type StoredObject,
  swap,
} from "../../storage/store.ts";
import { type Manifest, readManifest } from "../files/manifest.ts";
import { eventColumns } from "./lifted-column.ts";

// The type is the one that was named last, by any account's run.
const COLUMN = liftedSchema.omit({ pointer: true }).extend({
  /** The pointer of the column, by account. */
  pointers: z.record(z.string(), z.string().startsWith("/")),
  /** The snapshot that brought the column. */
  since: z.string(),
});

const COLUMNS = z
  .array(COLUMN)
  .readonly()
  .refine((columns) => new Set(eventColumns(columns)).size === eventColumns(columns).length, {
    error: "a name occurs twice",
  });

const FILE = z.object({ version: z.literal(1), columns: COLUMNS });

export type TableColumns = z.infer<typeof COLUMNS>;

/**
 * In the order of the tables. A warehouse without the file has the columns that its manifests say, until the next
 * publication makes the file. Throws `STORE_CORRUPT` where the file is damaged.
 */
export async function readColumns(store: Store): Promise<TableColumns> {
  return columnsIn(store, await store.read(COLUMNS_FILE));
}

/**
 * Adds what a snapshot brings, right before its publication: readers that find the column without it see null.
 * @param check may throw, is called with what is there before each try
 */
export async function recordColumns(
  store: Store,
  manifest: Manifest,
  check: (there: TableColumns) => Promise<void>,
): Promise<void> {
  for (;;) {
    const stored = await store.read(COLUMNS_FILE);
    const there = await columnsIn(store, stored);
    await check(there);
    const columns = withColumnsOf(there, manifest);
    if (stored && JSON.stringify(columns) === JSON.stringify(there)) return;
    if ((await swap(store, COLUMNS_FILE, encoded(columns), stored?.version)) !== undefined) return;
  }
}

const REMEDY = `${RESTORE} Or delete it: the next publication makes it again from the manifests.`;

/** The mark of a new warehouse. */
export async function createColumns(store: Store): Promise<void> {
  await store.create(COLUMNS_FILE, encoded([]));
}

const encoded = (columns: TableColumns): Uint8Array => jsonBytes({ version: 1, columns });

async function columnsIn(store: Store, stored: StoredObject | undefined): Promise<TableColumns> {
  if (stored === undefined) return columnsOfHeads(store);
  return parseJson(stored.bytes, COLUMNS_FILE, FILE, REMEDY).columns;
}

/** The columns of the heads, in the order of the longest list. */
async function columnsOfHeads(store: Store): Promise<TableColumns> {
  const manifests: Manifest[] = [];
  for (const account of await accountsIn(store, FOLDERS.publications)) {
    const manifest = await newestManifest(accountStore(store, account));
    if (manifest) manifests.push(manifest);
  }
  return manifests
    .toSorted((a, b) => b.lifted.length - a.lifted.length)
    .reduce<TableColumns>(withColumnsOf, []);
}

/** Of the head; where that is damaged, of the newest snapshot of which log and manifest can be read. */
async function newestManifest(store: AccountStore): Promise<Manifest | undefined> {
  for await (const { snapshot_id: snapshotId } of newestReadable(store)) {
    const manifest = await readManifest(store, snapshotId).catch(undefinedIfDamaged);
    if (manifest) return manifest;
  }
  return undefined;
}

/** Runs carry on types that they do not name, so the order of types is that of the runs that named them. */
function withColumnsOf(there: TableColumns, { account, snapshot_id, lifted }: Manifest): TableColumns {
  const columns = new Map(there.map((column) => [column.name, column]));
  for (const { name, pointer, type, typed_by = "" } of lifted) {
    const column = columns.get(name) ?? { name, pointers: {}, since: snapshot_id };
    const isNewer = type !== undefined && (column.type === undefined || typed_by > (column.typed_by ?? ""));
    const { pointers, since, ...typed } = column;
    columns.set(name, {
      ...(isNewer ? { name, type, typed_by } : typed),
      pointers: { ...pointers, [account]: pointer },
      since,
    });
  }
  return [...columns.values()];
}
