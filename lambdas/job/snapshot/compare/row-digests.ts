// A digest of each event of a snapshot, so that a later comparison need not read the events that are the same.

import { hash } from "node:crypto";

/** Of a uuid without its dashes. */
export const UUID_BYTES = 16;
/** The first bytes of a SHA-256. */
const DIGEST_BYTES = 16;
export const RECORD_BYTES = UUID_BYTES + DIGEST_BYTES;

const FIRST_RECORDS = 64;

/** Collects the records of rows in their order: uuid, then the digest of the event's text in UTF-8. */
export class RowDigests {
  #records = Buffer.alloc(FIRST_RECORDS * RECORD_BYTES);
  #used = 0;

  /** Returns the record, which is valid until the next one is added. */
  add(uuid: string, event: string): Uint8Array {
    if (this.#used === this.#records.length) this.#records = Buffer.concat([this.#records], 2 * this.#used);
    writeRecord(this.#records, this.#used, uuid, event);
    this.#used += RECORD_BYTES;
    return this.#records.subarray(this.#used - RECORD_BYTES, this.#used);
  }

  get records(): Uint8Array {
    return this.#records.subarray(0, this.#used);
  }
}

/** Whether the digests have this row at this place, counted from 0. */
export function isRecordOf(
  digests: Buffer,
  place: number,
  { uuid, event }: { readonly uuid: string; readonly event: string },
): boolean {
  const record = Buffer.alloc(RECORD_BYTES);
  writeRecord(record, 0, uuid, event);
  return record.equals(digests.subarray(place * RECORD_BYTES, (place + 1) * RECORD_BYTES));
}

function writeRecord(records: Buffer, at: number, uuid: string, event: string): void {
  records.write(uuid.replaceAll("-", ""), at, "hex");
  hash("sha256", event, "buffer").copy(records, at + UUID_BYTES, 0, DIGEST_BYTES);
}
