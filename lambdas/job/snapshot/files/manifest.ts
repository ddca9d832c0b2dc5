// The manifest: what a snapshot consists of and how it was made. It is written once, after the parts.

import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { damaged, MAKE_AGAIN, RESTORE, SyncError } from "../../errors/sync-error.ts";
import { jsonLine } from "../../json/json-line.ts";
import { liftedSchema } from "../../settings/lifted-column.ts";
import { isListed } from "../../settings/values.ts";
import { logMarkSchema } from "../../storage/log-mark.ts";
import {
  type AccountStore,
  parseJson,
  SELDOM_PARSED,
  type Store,
  writeJsonOnce,
} from "../../storage/store.ts";
import { profileSchema } from "../fields/field-profile.ts";

const count = z.int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const COUNTS = z.object({
  listed: count,
  events: count,
  gone: count,
  forbidden: count,
  /** Entries without a valid uuid, `oversize`, `too_deep` and `unreadable`. */
  rejected: count,
  /** How many of `rejected` had a detail over the cap. */
  oversize: count,
  repeated: count,
  /** How many of `rejected` had a detail of too many levels. Absent in snapshots of earlier versions. */
  too_deep: count.default(0),
  /** How many of `rejected` could not be read while others could. Absent in snapshots of earlier versions. */
  unreadable: count.default(0),
});

const PART = z.object({
  // Becomes part of a key, so nothing else passes: a damaged file must not point elsewhere.
  file: z.string().regex(/^part-\d{5,}\.ndjson\.gz$/),
  rows: z.int().positive(),
  bytes: z.int().positive(),
  sha256,
});

const STORED = z.object({ bytes: z.int().positive(), sha256 });

/**
 * A listed event that has no row, because of a 404 or 410, a 403, a detail over the cap, one that is nested too deep, or one
 * that cannot be read while others can.
 */
export const leftOutSchema = z.object({
  uuid: z.string(),
  reason: z.enum(["gone", "forbidden", "oversize", "too_deep", "unreadable"]),
});
export type LeftOut = Readonly<z.infer<typeof leftOutSchema>>;
export type LeftOutReason = LeftOut["reason"];

/**
 * Why the list may be a part only, though nothing says that there is more. A reason of a later version is a doubt like any
 * other.
 */
export const doubtSchema = z
  .object({
    why: z.enum(["unsaid", "limit", "empty", "failed", "overlap"]).catch("unsaid"),
    entries: count,
    places: z.array(z.string()).readonly(),
  })
  .readonly();

const VERSION = 1;
/** The manifest of any version. */
const ANY_VERSION = z.object({ version: z.int().positive() });

const MANIFEST = z
  .object({
    version: z.literal(VERSION),
    account: z.string(),
    snapshot_id: z.string(),
    run_id: z.string(),
    fingerprint: z.string(),
    plan_sha256: sha256,
    /** Where the publication log ended when the plan was made, as the plan says it. */
    log_end: logMarkSchema.nullable().optional(),
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
    /** Why its list may be a part only. Absent where something says that it is whole, and in snapshots of earlier versions. */
    doubt: doubtSchema.optional(),
  })
  .refine(({ counts, parts }) => parts.reduce((sum, { rows }) => sum + rows, 0) === counts.events, {
    path: ["parts"],
    error: "their rows do not add up to the events",
  })
  .refine(
    ({ counts }) => counts.listed === counts.events + counts.gone + counts.forbidden + counts.rejected,
    { path: ["counts"], error: "they do not add up to the listed" },
  )
  .refine(({ counts }) => counts.oversize + counts.too_deep + counts.unreadable <= counts.rejected, {
    path: ["counts", "rejected"],
    error: "fewer than oversize, too_deep and unreadable, which are parts of it",
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

  const found = await readAt(store, key);
  if (found === undefined) throw damaged(key, "it is missing", MAKE_AGAIN);
  if (!isDeepStrictEqual(content(found), content(own))) {
    throw damaged(key, "an earlier attempt wrote a different snapshot", MAKE_AGAIN);
  }
  return found;
}

/** Throws `STORE_CORRUPT` when there is none, or it is not that snapshot's. */
export async function readManifest(store: AccountStore, snapshotId: string): Promise<Manifest> {
  const key = store.keys.manifest(snapshotId);
  const manifest = await readAt(store, key);
  if (manifest === undefined) throw damaged(key, "it is missing", RESTORE);
  if (manifest.account !== store.account || manifest.snapshot_id !== snapshotId) {
    throw damaged(key, "it is the manifest of another snapshot", RESTORE);
  }
  return manifest;
}

/** Throws `STORE_FAILED` for the format of a later version: that is no damage, and a restart would not help. */
async function readAt(store: Store, key: string): Promise<Manifest | undefined> {
  const stored = await store.read(key);
  if (stored === undefined) return undefined;
  if (parseJson(stored.bytes, key, ANY_VERSION).version <= VERSION)
    return parseJson(stored.bytes, key, MANIFEST);
  throw new SyncError("STORE_FAILED", `The file ${key} was written by a later version of this program.`, {
    fields: { key },
    next: "Upgrade this one, then start again.",
  });
}

/** What follows from plan and records, independent of clocks. The types of columns are for readers: no row depends on one. */
function content({ lifted, ...manifest }: Manifest): object {
  return {
    ...manifest,
    lifted: lifted.map(({ name, pointer }) => ({ name, pointer })),
    stored: undefined,
    left_out: undefined,
    // An earlier version that resumes the plan does not know it.
    log_end: undefined,
    started_at: undefined,
    finished_at: undefined,
    program: undefined,
    settings: undefined,
    doubt: undefined,
  };
}

const { reason } = leftOutSchema.shape;
const REASONS = reason.options;

/** As it is read: later versions may know other reasons. */
const seenSchema = leftOutSchema.extend({
  reason: z.string().transform((text) => reason.safeParse(text).data ?? "other"),
});
export type SeenLeftOut = Readonly<z.infer<typeof seenSchema>>;

export function countReasons(reasons: Iterable<SeenLeftOut["reason"]>): Record<LeftOutReason, number> {
  const counts = { gone: 0, forbidden: 0, oversize: 0, too_deep: 0, unreadable: 0 };
  for (const reason of reasons) if (reason !== "other") counts[reason] += 1;
  return counts;
}

/**
 * Creates the file, and returns what the manifest says of it; undefined where the list is empty and there is none. Throws
 * `STORE_CORRUPT` where another file exists already.
 */
export async function writeLeftOut(
  store: Store,
  key: string,
  leftOut: readonly LeftOut[],
): Promise<Manifest["left_out"]> {
  if (leftOut.length === 0) return undefined;
  const bytes = Buffer.from(leftOut.map(({ uuid, reason }) => `${jsonLine({ uuid, reason })}\n`).join(""));
  if ((await store.create(key, bytes)) !== undefined) return factsOf(bytes);
  const found = await store.read(key);
  // Not byte by byte: a later version may have written more members.
  if (found === undefined || !isDeepStrictEqual(entriesIn(found.bytes), leftOut))
    throw damaged(key, "an earlier attempt left out other events than this run", MAKE_AGAIN);
  return factsOf(found.bytes);
}

/** None where there is no such file. Throws `STORE_CORRUPT` for a line that is no uuid with a reason. */
export async function readLeftOut(store: Store, key: string): Promise<readonly SeenLeftOut[]> {
  const found = await store.read(key);
  return found === undefined ? [] : parse(found.bytes, key);
}

/**
 * Throws `STORE_CORRUPT` where the file is missing or is not the one that the manifest names. A manifest of an earlier
 * version names none: then it must have as many events for each reason as the manifest counts.
 */
export async function verifyLeftOut(
  store: AccountStore,
  { snapshot_id, counts, left_out }: Pick<Manifest, "snapshot_id" | "counts" | "left_out">,
): Promise<void> {
  if (REASONS.every((reason) => counts[reason] === 0)) return;
  const key = store.keys.leftOut(snapshot_id);
  const found = await store.read(key);
  if (found === undefined) throw damaged(key, "it is missing", RESTORE);
  if (left_out) {
    if (isDeepStrictEqual(factsOf(found.bytes), left_out)) return;
    throw damaged(key, "its checksum is not the one in the manifest", RESTORE);
  }
  const listed = countReasons(parse(found.bytes, key).map(({ reason }) => reason));
  if (REASONS.some((reason) => listed[reason] !== counts[reason]))
    throw damaged(key, "it has other events than the manifest counts", RESTORE);
}

function factsOf(bytes: Uint8Array): NonNullable<Manifest["left_out"]> {
  return { bytes: bytes.length, sha256: hash("sha256", bytes, "hex") };
}

function parse(bytes: Uint8Array, key: string): readonly SeenLeftOut[] {
  if (bytes.at(-1) !== 0x0a) throw damaged(key, "its last line has no end", RESTORE);
  const entries = entriesIn(bytes);
  if (entries === undefined) throw damaged(key, "it holds a line that is not a uuid with a reason", RESTORE);
  return entries;
}

/** Of whole lines; undefined where one of them is no uuid with a reason. */
function entriesIn(bytes: Uint8Array): readonly SeenLeftOut[] | undefined {
  const lines = Buffer.from(bytes.subarray(0, -1)).toString().split("\n");
  try {
    return lines.map((line) => seenSchema.parse(JSON.parse(line)));
  } catch {
    return undefined; // the parser's own error quotes the line
  }
}
