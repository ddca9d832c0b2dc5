// The manifest: what a snapshot consists of and how it was made. It is written once, after the parts.

import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { damaged, MAKE_AGAIN, RESTORE } from "../../errors/damaged.ts";
import { isListed } from "../../settings/values.ts";
import { readJson, SELDOM_PARSED, writeJsonOnce } from "../../storage/json-object.ts";
import type { AccountStore, Store } from "../../storage/store.ts";
import { profileSchema } from "../fields/field-profile.ts";
import { liftedSchema } from "../rows/lifted-column.ts";

const count = z.int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const COUNTS = z.object({
  listed: count,
  events: count,
  gone: count,
  forbidden: count,
  /** Entries without a valid uuid, `oversize` and `too_deep`. */
  rejected: count,
  /** How many of `rejected` had a detail over the cap. */
  oversize: count,
  repeated: count,
  /** How many of `rejected` had a detail of too many levels. Absent in snapshots of earlier versions. */
  too_deep: count.default(0),
});

const PART = z.object({
  // Becomes part of a key, so nothing else passes: a damaged file must not point elsewhere.
  file: z.string().regex(/^part-\d{5,}\.ndjson\.gz$/),
  rows: z.int().positive(),
  bytes: z.int().positive(),
  sha256,
});

const STORED = z.object({ bytes: z.int().positive(), sha256 });

const MANIFEST = z
  .object({
    version: z.literal(1),
    account: z.string(),
    snapshot_id: z.string(),
    run_id: z.string(),
    fingerprint: z.string(),
    plan_sha256: sha256,
    counts: COUNTS,
    parts: z.array(PART).readonly(),
    /** Of each part the file as it lies in the store. Absent in snapshots of earlier versions. */
    stored: z.array(STORED).readonly().optional(),
    columns: z.array(liftedSchema.shape.name).readonly(),
    /** Where the last columns come from, and what readers take them for. */
    lifted: z.array(liftedSchema).readonly(),
    ...profileSchema.shape,
    started_at: z.iso.datetime(),
    finished_at: z.iso.datetime(),
    program: z.object({ name: z.string(), version: z.string() }),
    settings: z.object({
      base_url: z.string(),
      is_listed: isListed,
      list_pointer: z.string().nullable(),
      /** Absent where nothing was set, and in snapshots of earlier versions. */
      next_page: z.string().optional(),
      detail_pointer: z.string().nullable(),
    }),
    /** Absent in snapshots of earlier versions and in those without such a file. */
    left_out: STORED.optional(),
  })
  .refine(({ counts, parts }) => parts.reduce((sum, { rows }) => sum + rows, 0) === counts.events, {
    path: ["parts"],
    error: "their rows do not add up to the events",
  })
  .refine(
    ({ counts }) => counts.listed === counts.events + counts.gone + counts.forbidden + counts.rejected,
    { path: ["counts"], error: "they do not add up to the listed" },
  )
  .refine(({ counts }) => counts.oversize + counts.too_deep <= counts.rejected, {
    path: ["counts", "rejected"],
    error: "fewer than oversize and too_deep, which are parts of it",
  })
  .refine(
    ({ columns, lifted }) => lifted.every(({ name }, index) => name === columns.at(index - lifted.length)),
    { path: ["lifted"], error: "they are not the last columns" },
  );

export type Manifest = Readonly<z.infer<typeof MANIFEST>>;

/**
 * Creates the manifest and returns it, or the one that exists already, which may differ only in its instants and the
 * program's version. Throws `STORE_CORRUPT` for any other difference.
 */
export async function createManifest(store: Store, key: string, manifest: Manifest): Promise<Manifest> {
  const own = MANIFEST.parse(manifest, SELDOM_PARSED); // what could not be read back is not written
  if (await writeJsonOnce(store, key, own)) return own;

  const found = await readJson(store, key, MANIFEST);
  if (found === undefined) throw damaged(key, "it is missing", MAKE_AGAIN);
  if (!isDeepStrictEqual(content(found), content(own))) {
    throw damaged(key, "an earlier attempt wrote a different snapshot", MAKE_AGAIN);
  }
  return found;
}

/** Throws `STORE_CORRUPT` when there is none, or it is not that snapshot's. */
export async function readManifest(store: AccountStore, snapshotId: string): Promise<Manifest> {
  const key = store.keys.manifest(snapshotId);
  const manifest = await readJson(store, key, MANIFEST);
  if (manifest === undefined) throw damaged(key, "it is missing", RESTORE);
  if (manifest.account !== store.account || manifest.snapshot_id !== snapshotId) {
    throw damaged(key, "it is the manifest of another snapshot", RESTORE);
  }
  return manifest;
}

/** What follows from plan and records, independent of clocks. The types of columns are for readers: no row depends on one. */
function content({ lifted, ...manifest }: Manifest): object {
  return {
    ...manifest,
    lifted: lifted.map(({ name, pointer }) => ({ name, pointer })),
    stored: undefined,
    left_out: undefined,
    started_at: undefined,
    finished_at: undefined,
    program: undefined,
    settings: undefined,
  };
}
