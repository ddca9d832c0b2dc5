// The changes from one snapshot to another: by their digests where both have them, so that only rows that differ are
// read; else by all of their rows. The digests of a snapshot are a file beside its parts, and only save time.

import { hash } from "node:crypto";
import { damaged, RESTORE } from "../../errors/damaged.ts";
import type { AccountStore, Store } from "../../storage/store.ts";
import { readLines } from "../files/gzip-lines.ts";
import type { Manifest } from "../files/manifest.ts";
import { type PartInfo, readParts, verifyFile } from "../files/parts.ts";
import { type Change, diffRows } from "../rows/diff-rows.ts";
import { parseRow, type Row } from "../rows/row.ts";

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
const UUID_BYTES = 16;
/** The first bytes of a SHA-256. */
const DIGEST_BYTES = 16;
const RECORD_BYTES = UUID_BYTES + DIGEST_BYTES;

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
function isRecordOf(
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

/**
 * Sorted by uuid. Verifies all parts of both snapshots, also those of which it needs no row. Throws `STORE_CORRUPT` for a
 * part that is damaged; this may show only at the end, so use nothing made of the changes before this returns.
 * @param before undefined where there is nothing to compare with: every event is `added`
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export async function* compareSnapshots(
  store: AccountStore,
  before: Manifest | undefined,
  after: Manifest,
  proceed: () => void = () => undefined,
): AsyncGenerator<Change, void, undefined> {
  const chosen = before && (await differingRows(store, before, after));
  proceed(); // without a row that differs no row is read any more
  if (chosen) {
    await Promise.all([verifyFiles(store, before, proceed), verifyFiles(store, after, proceed)]);
  }
  yield* diffRows(
    rowsOf(store, before, proceed, chosen?.before),
    rowsOf(store, after, proceed, chosen?.after),
  );
}

/** Also those of which no row is needed: unzipping them would take as long as the rest of the comparison. */
async function verifyFiles(store: AccountStore, manifest: Manifest, proceed: () => void): Promise<void> {
  const prefix = store.keys.snapshot(manifest.snapshot_id);
  for (const [index, part] of manifest.parts.entries())
    await verifyFile(store, `${prefix}${part.file}`, part, manifest.stored?.[index], proceed);
}

/** All rows of a snapshot, or those at the chosen places; none where there is no snapshot. */
export async function* rowsOf(
  store: AccountStore,
  manifest: Manifest | undefined,
  proceed: () => void = () => undefined,
  chosen?: ChosenRows,
): AsyncGenerator<Row> {
  if (manifest === undefined) return;
  const prefix = store.keys.snapshot(manifest.snapshot_id);
  if (chosen) {
    yield* readChosen(store, prefix, manifest.parts, chosen, proceed);
    return;
  }
  for await (const line of readParts(store, prefix, manifest.parts)) {
    proceed();
    yield parseRow(line);
  }
}

/**
 * The rows that one side lacks or whose texts differ. Equal digests mean equal texts; texts that differ may still be equal
 * as values. Undefined where one of them has no digests that can be relied on.
 */
async function differingRows(
  store: AccountStore,
  before: Manifest,
  after: Manifest,
): Promise<{ readonly before: ChosenRows; readonly after: ChosenRows } | undefined> {
  const old = await readDigests(store, before);
  const current = old && (await readDigests(store, after));
  if (old === undefined || current === undefined) return undefined;
  const places: { readonly before: number[]; readonly after: number[] } = { before: [], after: [] };
  let [oldAt, currentAt] = [0, 0];
  while (oldAt < old.length || currentAt < current.length) {
    const order = compareUuids(old, oldAt, current, currentAt);
    const isSame = order === 0 && compareDigests(old, oldAt, current, currentAt) === 0;
    if (order <= 0 && !isSame) places.before.push(oldAt / RECORD_BYTES);
    if (order >= 0 && !isSame) places.after.push(currentAt / RECORD_BYTES);
    if (order <= 0) oldAt += RECORD_BYTES;
    if (order >= 0) currentAt += RECORD_BYTES;
  }
  return {
    before: { places: places.before, digests: old },
    after: { places: places.after, digests: current },
  };
}

/** A side that has ended comes last. */
function compareUuids(before: Buffer, old: number, after: Buffer, current: number): number {
  if (old === before.length) return 1;
  if (current === after.length) return -1;
  return before.compare(after, current, current + UUID_BYTES, old, old + UUID_BYTES);
}

function compareDigests(before: Buffer, old: number, after: Buffer, current: number): number {
  const [from, to] = [UUID_BYTES, RECORD_BYTES];
  return before.compare(after, current + from, current + to, old + from, old + to);
}

/** Single rows of a snapshot's parts. */
interface ChosenRows {
  /** Counted from 0 in the whole snapshot, ascending. */
  readonly places: readonly number[];
  /** Of all rows of the snapshot, verified: each row that is read is verified by its own. */
  readonly digests: Buffer;
}

/**
 * A part without a chosen row is not opened, and one with some is read no further than the last of them. Throws
 * `STORE_CORRUPT` for a part that is missing, or has other rows at these places.
 * @param proceed called repeatedly while it reads; may throw to stop
 */
async function* readChosen(
  store: AccountStore,
  prefix: string,
  parts: readonly PartInfo[],
  { places, digests }: ChosenRows,
  proceed: () => void,
): AsyncGenerator<Row, void, undefined> {
  let done = 0;
  let first = 0;
  for (const { file, rows } of parts) {
    const key = `${prefix}${file}`;
    const end = places.findIndex((place, index) => index >= done && place >= first + rows);
    const inPart = places.slice(done, end === -1 ? undefined : end);
    const wanted = inPart.map((place) => place - first);
    let found = 0;
    for await (const line of wanted.length === 0 ? [] : linesAt(store, key, wanted, proceed)) {
      const row = parseRow(line);
      if (!isRecordOf(digests, inPart[found] ?? 0, row)) throw notAsMade(key);
      found += 1;
      yield row;
    }
    if (found < wanted.length) throw notAsMade(key);
    done += found;
    first += rows;
  }
}

/** Fewer where the file has fewer. */
async function* linesAt(
  store: AccountStore,
  key: string,
  places: readonly number[],
  proceed: () => void,
): AsyncGenerator<string, void, undefined> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw damaged(key, "it is missing", RESTORE);
  let found = 0;
  let row = 0;
  for await (const line of readLines(chunks, key, RESTORE)) {
    proceed();
    if (row++ !== places[found]) continue;
    yield line;
    found += 1;
    if (found === places.length) return;
  }
}

function notAsMade(key: string): Error {
  return damaged(key, "its rows are not those that it was made of", RESTORE);
}
