// Blocks of lines in a staged file: each is a gzip member whose header says how long it is, so that parts take its
// deflated bytes over as they are. Readers of gzip see one text.

import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { gunzip, gunzipSync, type ZlibOptions } from "node:zlib";
import { damaged, MAKE_AGAIN } from "../damaged.ts";
import { ByteReader } from "./byte-reader.ts";
import { free } from "./free.ts";
import { GZIP_HEADER, gzipTrailer, LAST_BLOCK } from "./gzip-member.ts";
import { type DeflatedBlock, type LineBlock, lineBlocks } from "./line-blocks.ts";
import { readLines } from "./read-lines.ts";

/** RFC 1952 §2.3.1: the flag FEXTRA, then one field of 4 bytes named "BE": the length of `deflated`. */
const START = Buffer.concat([
  GZIP_HEADER.with(3, 4),
  Buffer.from([8, 0]),
  Buffer.from("BE"),
  Buffer.from([4, 0]),
]);
const HEADER_BYTES = START.length + 4;
const END_BYTES = LAST_BLOCK.length + 8;
/** What Z_SYNC_FLUSH ends with: an empty stored block (RFC 1951 §3.2.4). */
const FLUSHED = Buffer.from([0, 0, 0xff, 0xff]);
/** Of a block, deflated or not: the longest row fits, also if it does not deflate. Damage must not fill the memory. */
const MAX_BYTES = 66 * 1024 * 1024;
/** The least that zlib takes. */
const MIN_CHUNK_BYTES = 64;
/** What is smaller takes less time in one call than on its way to zlib's thread and back. */
const SMALL_BYTES = 128 * 1024;
const EMPTY_LINE = "\n\n";
const NEWLINE = 0x0a;

export function stagedBlock({ text, deflated, crc32 }: DeflatedBlock): Buffer {
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32LE(deflated.length);
  return Buffer.concat([START, length, deflated, LAST_BLOCK, gzipTrailer(crc32, text.length)]);
}

/** The block with the deflated bytes of its staged form, so that memory holds them once. */
export function blockIn(staged: Buffer, block: DeflatedBlock): DeflatedBlock {
  return { ...block, deflated: staged.subarray(HEADER_BYTES, HEADER_BYTES + block.deflated.length) };
}

/**
 * The blocks of a staged file, each valid until the next one is asked for; an earlier version wrote one ordinary gzip member, whose lines come as blocks that are
 * not deflated. Throws `STORE_CORRUPT` for anything but whole, non-empty lines of UTF-8 in one of both forms; errors of
 * `chunks` pass through unchanged.
 */
export async function* readStagedBlocks(
  chunks: AsyncIterable<Uint8Array>,
  what: string,
): AsyncGenerator<LineBlock | DeflatedBlock, void, undefined> {
  const reader = new ByteReader(chunks);
  try {
    if (!(await reader.peek(START.length)).equals(START)) {
      yield* lineBlocks(readLines(reader.rest(), { what }));
      return;
    }
    let next = nextBlock(reader, what);
    for (let block = await next; block !== undefined; block = await next) {
      next = nextBlock(reader, what); // in zlib's thread, while this block is used
      next.catch(() => undefined); // it is awaited above, unless the caller stops before
      yield block;
      if (block.text.length > SMALL_BYTES) free(block.text); // smaller ones may share their memory
    }
  } finally {
    await reader.close();
  }
}

async function nextBlock(reader: ByteReader, what: string): Promise<DeflatedBlock | undefined> {
  const header = await reader.peek(HEADER_BYTES);
  if (header.length === 0) return undefined;
  const bad = (problem: string, cause?: unknown): Error => damaged(what, problem, MAKE_AGAIN, cause);
  const isHeader = header.length === HEADER_BYTES && header.subarray(0, START.length).equals(START);
  const length = isHeader ? header.readUInt32LE(START.length) : Infinity;
  if (length > MAX_BYTES) throw bad(NOT_GZIP);
  const member = await reader.take(HEADER_BYTES + length + END_BYTES);
  const deflated = member.subarray(HEADER_BYTES, HEADER_BYTES + length);
  const end = member.subarray(HEADER_BYTES + length);
  const isEnded = end.length === END_BYTES && end.subarray(0, LAST_BLOCK.length).equals(LAST_BLOCK);
  if (!isEnded || !deflated.subarray(-FLUSHED.length).equals(FLUSHED)) throw bad(NOT_GZIP);
  const bytes = end.readUInt32LE(END_BYTES - 4);
  if (bytes > MAX_BYTES) throw bad(NOT_GZIP);

  // Unzipped with its end: so zlib compares length and checksum, and finds a block that claims to be the last one.
  const text = await unzipped(member, bytes).catch((error: unknown) => {
    throw bad(NOT_GZIP, error);
  });
  if (!isUtf8(text)) throw bad("it is not UTF-8");
  if (text.at(-1) !== NEWLINE) throw bad("its last line has no end");
  if (text[0] === NEWLINE || text.includes(EMPTY_LINE)) throw bad("it holds an empty line");
  return { text, deflated, crc32: end.readUInt32LE(LAST_BLOCK.length) };
}

const NOT_GZIP = "it is not one whole gzip file";

async function unzipped(member: Buffer, bytes: number): Promise<Buffer> {
  // One piece of memory. It is a byte longer, so that zlib sees the end without asking for another one.
  const chunkSize = Math.max(bytes + 1, MIN_CHUNK_BYTES);
  const options = { maxOutputLength: Math.max(bytes, 1), rejectGarbageAfterEnd: true, chunkSize };
  return bytes <= SMALL_BYTES ? gunzipSync(member, options) : inThread(member, options);
}

const inThread = promisify<Uint8Array, ZlibOptions, Buffer>(gunzip);
