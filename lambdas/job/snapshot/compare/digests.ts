// The digests of a snapshot's events, as a file beside its parts. It only saves time: without it every row is read.

import { hash } from "node:crypto";
import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { damaged } from "../files/damaged.ts";
import type { Manifest } from "../files/manifest.ts";
import { RECORD_BYTES } from "./row-digests.ts";

type DigestsInfo = NonNullable<Manifest["digests"]>;

/**
 * Creates the file, and returns what the manifest says of it. Undefined where there is nothing to write, or where the key
 * is taken by another content: by another version's, or by a damaged one. The snapshot then has no digests.
 */
export async function writeDigests(
  store: Store,
  key: string,
  records: Uint8Array,
): Promise<DigestsInfo | undefined> {
  if (records.length === 0) return undefined;
  const info = { bytes: records.length, sha256: sha256Of(records) };
  if ((await store.create(key, records)) !== undefined) return info;
  const found = await store.read(key);
  return found !== undefined && isWhole(found.bytes, info) ? info : undefined;
}

/** Undefined where the snapshot has none, or not those that its manifest names. */
export async function readDigests(
  store: Store,
  { account, snapshot_id, digests, counts }: Pick<Manifest, "account" | "snapshot_id" | "digests" | "counts">,
): Promise<Buffer | undefined> {
  if (digests === undefined || digests.bytes !== counts.events * RECORD_BYTES) return undefined;
  const found = await store.read(layout.digests(account, snapshot_id));
  if (found === undefined || !isWhole(found.bytes, digests)) return undefined;
  return Buffer.from(found.bytes.buffer, found.bytes.byteOffset, found.bytes.length);
}

/** Throws `STORE_CORRUPT` where the manifest names digests and they are missing or others. */
export async function verifyDigests(
  store: Store,
  { account, snapshot_id, digests }: Pick<Manifest, "account" | "snapshot_id" | "digests">,
): Promise<void> {
  if (digests === undefined) return;
  const key = layout.digests(account, snapshot_id);
  const found = await store.read(key);
  if (found === undefined) throw damaged(key, "it is missing", REMEDY);
  if (!isWhole(found.bytes, digests))
    throw damaged(key, "its checksum is not the one in the manifest", REMEDY);
}

const REMEDY =
  "Restore it from a backup or an older version, or leave it: no reader needs it, and the next run reads all events of the snapshot instead.";

function isWhole(bytes: Uint8Array, { bytes: length, sha256 }: DigestsInfo): boolean {
  return bytes.length === length && sha256Of(bytes) === sha256;
}

function sha256Of(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}
