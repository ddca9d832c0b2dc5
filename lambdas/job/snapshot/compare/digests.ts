// The digests of a snapshot's events, as a file beside its parts. It only saves time: without it every row is read.

import { hash } from "node:crypto";
import type { AccountStore, Store } from "../../storage/store.ts";
import { damaged } from "../files/damaged.ts";
import type { Manifest } from "../files/manifest.ts";

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
  store: AccountStore,
  { snapshot_id, digests, counts }: Pick<Manifest, "snapshot_id" | "digests" | "counts">,
): Promise<Buffer | undefined> {
  if (digests === undefined || digests.bytes !== counts.events * RECORD_BYTES) return undefined;
  const found = await store.read(store.keys.digests(snapshot_id));
  if (found === undefined || !isWhole(found.bytes, digests)) return undefined;
  return Buffer.from(found.bytes.buffer, found.bytes.byteOffset, found.bytes.length);
}

/** Throws `STORE_CORRUPT` where the manifest names digests and they are missing or others. */
export async function verifyDigests(
  store: AccountStore,
  { snapshot_id, digests }: Pick<Manifest, "snapshot_id" | "digests">,
): Promise<void> {
  if (digests === undefined) return;
  const key = store.keys.digests(snapshot_id);
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

/** Of a uuid without its dashes. */
export const UUID_BYTES = 16;
/** The first bytes of a SHA-256. */
const DIGEST_BYTES = 16;
export const RECORD_BYTES = UUID_BYTES + DIGEST_BYTES;

/** The records of rows that are known in any order: uuid, then the digest of the event's text in UTF-8. */
export class RowDigests {
  readonly #records: Buffer;
  readonly #isThere: boolean[];

  /** @param places how many rows there are at most */
  constructor(places: number) {
    this.#records = Buffer.alloc(places * RECORD_BYTES);
    this.#isThere = new Array<boolean>(places).fill(false);
  }

  /** @param place of the row among those that may be there, counted from 0 */
  set(place: number, uuid: string, event: string): Buffer {
    const record = this.#at(place);
    writeRecord(record, uuid, event);
    this.#isThere[place] = true;
    return record;
  }

  /** Of the rows that are there, in the order of their places. */
  get records(): Buffer {
    if (!this.#isThere.includes(false)) return this.#records;
    return Buffer.concat(this.#isThere.flatMap((isThere, place) => (isThere ? [this.#at(place)] : [])));
  }

  #at(place: number): Buffer {
    return this.#records.subarray(place * RECORD_BYTES, (place + 1) * RECORD_BYTES);
  }
}

/** Whether the digests have this row at this place, counted from 0. */
export function isRecordOf(
  digests: Buffer,
  place: number,
  { uuid, event }: { readonly uuid: string; readonly event: string },
): boolean {
  const record = Buffer.alloc(RECORD_BYTES);
  writeRecord(record, uuid, event);
  return record.equals(digests.subarray(place * RECORD_BYTES, (place + 1) * RECORD_BYTES));
}

function writeRecord(record: Buffer, uuid: string, event: string): void {
  record.write(uuid.replaceAll("-", ""), 0, "hex");
  hash("sha256", event, "buffer").copy(record, UUID_BYTES, 0, DIGEST_BYTES);
}
