// The list of listed events that a snapshot has no row for, beside its parts.

import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { damaged, MAKE_AGAIN, RESTORE } from "../../errors/damaged.ts";
import { jsonLine } from "../../json/json-line.ts";
import type { AccountStore, Store } from "../../storage/store.ts";
import { type LeftOut, leftOutSchema } from "../staging/chain.ts";
import type { Manifest } from "./manifest.ts";

const REASONS = leftOutSchema.shape.reason.options;

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
export async function readLeftOut(store: Store, key: string): Promise<readonly LeftOut[]> {
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
  const listed = parse(found.bytes, key);
  const countOf = (wanted: string): number => listed.filter(({ reason }) => reason === wanted).length;
  if (REASONS.some((reason) => countOf(reason) !== counts[reason]))
    throw damaged(key, "it has other events than the manifest counts", RESTORE);
}

function factsOf(bytes: Uint8Array): NonNullable<Manifest["left_out"]> {
  return { bytes: bytes.length, sha256: hash("sha256", bytes, "hex") };
}

function parse(bytes: Uint8Array, key: string): readonly LeftOut[] {
  if (bytes.at(-1) !== 0x0a) throw damaged(key, "its last line has no end", RESTORE);
  const entries = entriesIn(bytes);
  if (entries === undefined) throw damaged(key, "it holds a line that is not a uuid with a reason", RESTORE);
  return entries;
}

/** Of whole lines; undefined where one of them is no uuid with a reason. */
function entriesIn(bytes: Uint8Array): readonly LeftOut[] | undefined {
  const lines = Buffer.from(bytes.subarray(0, -1)).toString().split("\n");
  try {
    return lines.map((line) => leftOutSchema.parse(JSON.parse(line)));
  } catch {
    return undefined; // the parser's own error quotes the line
  }
}
