// Lines in blocks: as bytes, and each block deflated by itself, so that any gzip member takes it over as it is.

import { promisify } from "node:util";
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from "node:zlib";
import { lineBytes } from "./line-digest.ts";

/** A block has at most this many bytes, or one longer line. Smaller ones deflate worse: half as large, 0.7 % at 2 KB a line. */
const BLOCK_BYTES = 512 * 1024;
/** Of gzip. Measured on events of 2 KB: level 6 takes three times as long and makes files a seventh smaller. */
const LEVEL = 4;
/** What is smaller takes less time in one call than on its way to zlib's thread and back. */
const SMALL_BYTES = 128 * 1024;
/** Lines that are fewer take no more memory than this. */
const FIRST_BYTES = 4 * 1024;
/** In UTF-8, of one UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;
const NEWLINE = 0x0a;

/** Without their newlines; bytes are copied at once. */
export type Lines = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

export interface LineBlock {
  /** Whole lines in UTF-8, each with its newline. */
  readonly text: Buffer;
}

export interface DeflatedBlock extends LineBlock {
  /** Refers to nothing before it and ends at a byte, and is not the last block of a stream. */
  readonly deflated: Buffer;
  /** Of the text. */
  readonly crc32: number;
}

/**
 * A block's text is valid until the second block after it is asked for: its memory is used again, because new memory for
 * each block would keep the garbage collector busy. Errors of `lines` pass through unchanged.
 */
export async function* lineBlocks(lines: Lines): AsyncGenerator<LineBlock, void, undefined> {
  let before: Buffer<ArrayBuffer> | undefined;
  let block = Buffer.allocUnsafeSlow(FIRST_BYTES);
  let used = 0;
  for await (const line of lines) {
    // To count the bytes takes as long as to write them, so they are counted only where they might not fit.
    const isText = typeof line === "string";
    if (used + line.length * (isText ? MAX_BYTES_PER_UNIT : 1) + 1 > block.length) {
      const size = isText ? lineBytes(line) : line.length + 1;
      if (used > 0 && used + size > BLOCK_BYTES) {
        yield { text: block.subarray(0, used) };
        const free = before ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
        before = block.length > BLOCK_BYTES ? undefined : block;
        block = free;
        used = 0;
      }
      if (used + size > block.length) block = grown(block, used, size);
    }
    if (isText) used += block.write(line, used);
    else {
      block.set(line, used);
      used += line.length;
    }
    used = block.writeUInt8(NEWLINE, used);
  }
  if (used > 0) yield { text: block.subarray(0, used) };
}

/** Without their newlines. */
export function* linesIn(text: Buffer): Generator<string, void> {
  let start = 0;
  for (let end = text.indexOf(NEWLINE); end !== -1; end = text.indexOf(NEWLINE, start)) {
    yield text.toString("utf8", start, end);
    start = end + 1;
  }
}

/** Collects the next block while zlib's thread deflates. Errors of `blocks` pass through unchanged. */
export async function* deflatedBlocks(
  blocks: AsyncIterable<LineBlock>,
  level = LEVEL,
): AsyncGenerator<DeflatedBlock, void, undefined> {
  let last: Promise<DeflatedBlock> | undefined;
  for await (const { text } of blocks) {
    const next = deflated(text, level);
    if (last) yield await last;
    last = next;
  }
  if (last) yield await last;
}

export async function deflated(text: Buffer, level = LEVEL): Promise<DeflatedBlock> {
  const options = { level, finishFlush: constants.Z_SYNC_FLUSH, chunkSize: SMALL_BYTES };
  const isSmall = text.length <= SMALL_BYTES;
  return {
    text,
    deflated: isSmall ? deflateRawSync(text, options) : await inThread(text, options),
    crc32: crc32(text),
  };
}

const inThread = promisify<Uint8Array, ZlibOptions, Buffer>(deflateRaw);

function grown(block: Buffer, used: number, more: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(Math.max(Math.min(2 * block.length, BLOCK_BYTES), used + more));
  block.copy(larger, 0, 0, used);
  return larger;
}
