// The changes of a first publication, made while its rows are in memory. They lie below the number of the publication,
// which is not known before the end, so their file waits in memory, compressed.

import { GzipMember } from "../files/gzip/gzip-member.ts";
import { type DeflatedBlock, deflated } from "../files/gzip/line-blocks.ts";
import { MAX_PART_BYTES } from "../files/part-writer.ts";
import { AddedLine } from "./added-lines.ts";

/** Compressed. Where more is expected nothing is kept, and the changes are made of the snapshot's parts. */
const MAX_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The one file of all changes. */
export interface AddedFile {
  readonly chunks: readonly Uint8Array[];
  readonly rows: number;
}

export class AddedAhead {
  readonly #planned: number;
  readonly #maxBytes: number;
  readonly #line = new AddedLine();
  readonly #member = new GzipMember();
  #text = Buffer.alloc(0);
  /** It reads the text. */
  #deflating: Promise<DeflatedBlock> | undefined;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #textBytes = 0;
  #rows = 0;
  #isGivenUp = false;

  /** @param planned how many rows there will be at most */
  constructor(planned: number, maxBytes = MAX_BYTES) {
    this.#planned = planned;
    this.#maxBytes = maxBytes;
  }

  /** Whole rows, in order, each with its newline. They are not used after this returns. */
  async add(rows: Buffer): Promise<void> {
    await this.#take();
    if (this.#isGivenUp) return;
    let used = 0;
    for (let start = 0; start < rows.length; ) {
      const end = rows.indexOf(NEWLINE, start);
      const { line } = this.#line.of(rows.subarray(start, end));
      if (used + line.length + 1 > this.#text.length) this.#grow(used, line.length + 1);
      this.#text.set(line, used);
      used = this.#text.writeUInt8(NEWLINE, used + line.length);
      this.#rows += 1;
      start = end + 1;
    }
    this.#textBytes += used;
    this.#deflating = deflated(this.#text.subarray(0, used));
  }

  /** Undefined unless all of so many rows were added, and are few enough. */
  async file(rows: number): Promise<AddedFile | undefined> {
    await this.#take();
    if (this.#isGivenUp || rows === 0 || this.#rows !== rows) return undefined;
    return { chunks: [...this.#chunks, this.#member.end()], rows };
  }

  async #take(): Promise<void> {
    if (this.#deflating === undefined) return;
    const block = await this.#deflating;
    this.#deflating = undefined;
    this.#chunks.push(Buffer.from(this.#member.add(block))); // what zlib returns lies in 128 KiB, however short it is
    this.#bytes += block.deflated.length;
    const expected = (this.#bytes / this.#rows) * this.#planned;
    this.#isGivenUp = Math.max(expected, this.#bytes) > this.#maxBytes || this.#textBytes > MAX_PART_BYTES;
    if (this.#isGivenUp) this.#chunks = [];
  }

  #grow(used: number, more: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#text.length, used + more));
    this.#text.copy(larger, 0, 0, used);
    this.#text = larger;
  }
}
