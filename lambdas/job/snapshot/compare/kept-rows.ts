// The rows of a new snapshot that differ from its base, kept while the snapshot is made: comparing the two then reads
// none of them again.

import { isDamage } from "../../errors/is-damage.ts";
import type { Store } from "../../storage/store.ts";
import { readManifest } from "../files/manifest.ts";
import type { Row } from "../rows/row.ts";
import { readDigests } from "./digests.ts";
import type { ChosenRows } from "./read-chosen.ts";
import { RECORD_BYTES, UUID_BYTES } from "./row-digests.ts";

/** Of events and listings, in UTF-16 code units. Where more differs, nothing is kept, and the comparison reads the parts. */
const MAX_TEXT = 8 * 1024 * 1024;

/** For a snapshot that will be compared with this one, unless the head changes until then. */
export async function keptRows(store: Store, account: string, base: string | null): Promise<KeptRows> {
  try {
    const manifest = base === null ? undefined : await readManifest(store, account, base);
    return new KeptRows(manifest && (await readDigests(store, manifest)));
  } catch (error) {
    if (!isDamage(error)) throw error; // comparing with it says what is wrong
    return new KeptRows(undefined);
  }
}

export class KeptRows {
  readonly #base: Buffer;
  readonly #maxText: number;
  readonly #rows = new Map<string, Row>();
  #text = 0;

  /** @param base the digests of the snapshot to compare with; undefined where there are none, and then no row is kept */
  constructor(base: Buffer | undefined, maxText = MAX_TEXT) {
    this.#base = base ?? Buffer.alloc(0);
    this.#maxText = base === undefined ? 0 : maxText;
  }

  /** A row of the new snapshot with its record. Rows come in any order. */
  add(row: Row, record: Buffer): void {
    if (this.#text > this.#maxText || this.#isInBase(record)) return;
    this.#text += row.event.length + row.listing.length;
    if (this.#text > this.#maxText) this.#rows.clear();
    else this.#rows.set(nameOf(record, 0), structuredClone(row)); // a slice would keep the whole response in memory
  }

  /** The chosen rows of the new snapshot; undefined where one of them was not kept. */
  at({ places, digests }: ChosenRows): readonly Row[] | undefined {
    const rows = places.flatMap((place) => this.#rows.get(nameOf(digests, place * RECORD_BYTES)) ?? []);
    return rows.length === places.length ? rows : undefined;
  }

  /** By bisection: the base is sorted by uuid. */
  #isInBase(record: Buffer): boolean {
    const base = this.#base;
    let [from, to] = [0, base.length / RECORD_BYTES];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const order = compareUuids(base, middle * RECORD_BYTES, record);
      if (order === 0)
        return record.equals(base.subarray(middle * RECORD_BYTES, (middle + 1) * RECORD_BYTES));
      if (order < 0) from = middle + 1;
      else to = middle;
    }
    return false;
  }
}

/** Without `Buffer.compare`, whose call takes longer than the comparison. */
function compareUuids(base: Buffer, at: number, record: Buffer): number {
  for (let byte = 0; byte < UUID_BYTES; byte += 4) {
    const difference = base.readUInt32BE(at + byte) - record.readUInt32BE(byte);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A uuid's bytes as a key. */
function nameOf(records: Buffer, at: number): string {
  return records.toString("latin1", at, at + UUID_BYTES);
}
