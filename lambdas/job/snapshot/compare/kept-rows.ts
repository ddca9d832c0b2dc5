// The rows of a new snapshot that differ from its base, kept while the snapshot is made: comparing the two then reads
// none of them again.

import { isDamage } from "../../errors/is-damage.ts";
import type { Store } from "../../storage/store.ts";
import { readManifest } from "../files/manifest.ts";
import type { Row } from "../rows/row.ts";
import { readDigests } from "./digests.ts";
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
  readonly #rows = new Map<number, Row>();
  #baseAt = 0;
  #place = 0;
  #text = 0;

  /** @param base the digests of the snapshot to compare with; undefined where there are none, and then no row is kept */
  constructor(base: Buffer | undefined, maxText = MAX_TEXT) {
    this.#base = base ?? Buffer.alloc(0);
    this.#maxText = base === undefined ? 0 : maxText;
  }

  /** The next row of the new snapshot, with its record. */
  add(row: Row, record: Uint8Array): void {
    const place = this.#place;
    this.#place += 1;
    if (this.#text > this.#maxText || this.#isInBase(record)) return;
    this.#text += row.event.length + row.listing.length;
    if (this.#text > this.#maxText) this.#rows.clear();
    else this.#rows.set(place, row);
  }

  /** The rows at these places; undefined where one of them was not kept. */
  at(places: readonly number[]): readonly Row[] | undefined {
    const rows = places.flatMap((place) => this.#rows.get(place) ?? []);
    return rows.length === places.length ? rows : undefined;
  }

  #isInBase(record: Uint8Array): boolean {
    const base = this.#base;
    while (
      this.#baseAt < base.length &&
      base.compare(record, 0, UUID_BYTES, this.#baseAt, this.#baseAt + UUID_BYTES) < 0
    ) {
      this.#baseAt += RECORD_BYTES;
    }
    const [from, to] = [this.#baseAt, this.#baseAt + RECORD_BYTES];
    return from < base.length && base.compare(record, 0, RECORD_BYTES, from, to) === 0;
  }
}
