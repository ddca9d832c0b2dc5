// One gzip member of blocks that are deflated already: header, the blocks, an empty last block, checksum and size.

import { crc32Combine } from "./crc32-combine.ts";
import type { DeflatedBlock } from "./line-blocks.ts";

/** RFC 1952 §2.3.1: deflate, no flags, no time, unknown system; so equal blocks give equal files everywhere. */
export const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0xff]);
/** RFC 1951 §3.2.3: a last block, of the fixed codes, that holds only its end. */
export const LAST_BLOCK = Buffer.from([0x03, 0x00]);

export class GzipMember {
  #crc32 = 0;
  #bytes = 0;
  #isBegun = false;

  /** What the block is in the file; the first one with what is before it. */
  add({ text, deflated, crc32 }: DeflatedBlock): Buffer {
    this.#crc32 = crc32Combine(this.#crc32, crc32, text.length);
    this.#bytes += text.length;
    return this.#begun(deflated);
  }

  /** What follows the last block. */
  end(): Buffer {
    return this.#begun(Buffer.concat([LAST_BLOCK, gzipTrailer(this.#crc32, this.#bytes)]));
  }

  #begun(bytes: Buffer): Buffer {
    if (this.#isBegun) return bytes;
    this.#isBegun = true;
    return Buffer.concat([GZIP_HEADER, bytes]);
  }
}

/** RFC 1952 §2.3.1: CRC-32, and the length modulo 2^32. */
export function gzipTrailer(crc32: number, bytes: number): Buffer {
  const trailer = Buffer.allocUnsafe(8);
  trailer.writeUInt32LE(crc32, 0);
  trailer.writeUInt32LE(bytes % 2 ** 32, 4);
  return trailer;
}
