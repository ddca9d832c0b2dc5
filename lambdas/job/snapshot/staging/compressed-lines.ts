// The lines of a plan, or of a list, in memory: compressed in chunks, because there may be a million of them.

import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { lineBytes } from "../files/gzip/gzip-lines.ts";

/** Lines that are compressed together. */
const CHUNK_LINES = 1_000;
const FIRST_CAPACITY = 64 * 1024;
const NEWLINE = 0x0a;

export class CompressedLines {
  readonly #hash = createHash("sha256");
  readonly #chunks: Uint8Array[] = [];
  /** The last chunk, while it is not full. */
  #open = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #openBytes = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Hexadecimal, of all lines so far with their newlines. */
  sha256(): string {
    return this.#hash.copy().digest("hex");
  }

  /** @param line without its newline */
  add(line: string): void {
    const start = this.#openBytes;
    const end = start + lineBytes(line);
    if (end > this.#open.length) this.#grow(end);
    this.#open.write(line, start);
    this.#open.writeUInt8(NEWLINE, end - 1);
    this.#hash.update(this.#open.subarray(start, end));
    this.#openBytes = end;
    this.#length += 1;
    if (this.#length % CHUNK_LINES !== 0) return;
    // Higher levels take several times as long and save a tenth.
    this.#chunks.push(deflateRawSync(this.#open.subarray(0, end), { level: 1 }));
    this.#openBytes = 0;
  }

  /** The lines from a place on, without their newlines. */
  *from(place: number): Generator<string, void> {
    let skipped = place % CHUNK_LINES;
    for (let chunk = Math.floor(place / CHUNK_LINES); chunk <= this.#chunks.length; chunk += 1) {
      const deflated = this.#chunks[chunk];
      const bytes = deflated ? inflateRawSync(deflated) : this.#open.subarray(0, this.#openBytes);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        if (skipped > 0) skipped -= 1;
        else yield bytes.toString("utf8", start, end);
        start = end + 1;
      }
    }
  }

  #grow(needed: number): void {
    const open = Buffer.allocUnsafeSlow(Math.max(needed, this.#open.length * 2));
    this.#open.copy(open, 0, 0, this.#openBytes);
    this.#open = open;
  }
}
