// A digest of each event of a snapshot, so that a later comparison need not read the events that are the same.

import { hash } from "node:crypto";

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
