// Lines as one gzip member: small files in one call, others as streams.

import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip, type Gunzip, type Gzip, gunzipSync, gzipSync } from "node:zlib";
import { codeOf, damaged, MAKE_AGAIN } from "../../errors/sync-error.ts";

/** Goes to zlib's thread and back as one. What is smaller takes less time in one call. */
const BLOCK_BYTES = 128 * 1024;
/** This much may wait on either side, so that zlib's thread and ours do not wait for each other in turns. */
const AHEAD_BYTES = 4 * BLOCK_BYTES;
const STREAM = {
  chunkSize: BLOCK_BYTES,
  writableHighWaterMark: AHEAD_BYTES,
  readableHighWaterMark: AHEAD_BYTES,
};
/** Of gzip. Measured on events of 2 KB: level 6 takes three times as long and makes files a seventh smaller. */
const LEVEL = 4;

const NEWLINE = 0x0a;

/** What bytes are. */
export interface Content {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Lines of text without their newlines. */
export type Lines = AsyncIterable<string> | Iterable<string>;

/**
 * Takes lines only as fast as the result is read; an error of `lines` passes through unchanged.
 * @param text takes the checksum of the uncompressed bytes
 */
export function gzipLines(lines: Lines, text = new Checksum()): AsyncGenerator<Uint8Array, void, undefined> {
  return throughZlib(
    text.over(encoded(lines)),
    (bytes) => gzipSync(bytes, { level: LEVEL }),
    () => createGzip({ ...STREAM, level: LEVEL }),
  );
}

/** The bytes of a line in a file, its newline included. */
export function lineBytes(line: string): number {
  return Buffer.byteLength(line) + 1;
}

/** Many lines at once, because each goes through several steps on its own. */
async function* encoded(lines: Lines): AsyncGenerator<Uint8Array> {
  let text = "";
  for await (const line of lines) {
    text += `${line}\n`;
    if (text.length < BLOCK_BYTES) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

/**
 * The lines of one of our files. Throws `STORE_CORRUPT` for anything but whole, non-empty lines of UTF-8 in
 * one gzip member; errors of `chunks` pass through unchanged.
 * @param key of the file, for errors
 * @param remedy what to do when it is damaged
 * @param text takes the checksum of the uncompressed bytes
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  key: string,
  remedy = MAKE_AGAIN,
  text = new Checksum(),
): AsyncGenerator<string, void, undefined> {
  let begun: Uint8Array[] = []; // a line whose end has not come yet
  for await (const chunk of text.over(unzipped(chunks, key, remedy))) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      const line = begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
      if (line.length === 0) throw damaged(key, "it holds an empty line", remedy);
      if (!isUtf8(line)) throw damaged(key, "it is not UTF-8", remedy);
      // Line by line: a text of all lines takes twice the memory if one character needs it, and stays in memory as long as one of them.
      yield line.toString("utf8");
      begun = [];
      start = end + 1;
    }
    begun.push(chunk.subarray(start));
  }
  if (begun.some(({ length }) => length > 0)) throw damaged(key, "its last line has no end", remedy);
}

/** The uncompressed bytes. Throws `STORE_CORRUPT` for anything but one gzip member; errors of `chunks` pass through unchanged. */
export async function* unzipped(
  chunks: AsyncIterable<Uint8Array>,
  key: string,
  remedy: string,
): AsyncGenerator<Buffer, void, undefined> {
  const rejectGarbageAfterEnd = true;
  try {
    yield* throughZlib(
      chunks,
      (bytes) => gunzipSync(bytes, { rejectGarbageAfterEnd }),
      () => createGunzip({ ...STREAM, rejectGarbageAfterEnd }),
    );
  } catch (error) {
    const isOfZlib = /^Z_|^ERR_TRAILING_JUNK/.test(codeOf(error) ?? "");
    throw isOfZlib ? damaged(key, "it is not one whole gzip member", remedy, error) : error;
  }
}

/** What zlib makes of the chunks: in one call where they have few bytes. */
async function* throughZlib(
  chunks: AsyncIterable<Uint8Array>,
  inOneCall: (bytes: Buffer) => Buffer,
  createStream: () => Gzip | Gunzip,
): AsyncGenerator<Buffer, void, undefined> {
  const blocks = inBlocks(chunks);
  const { value: first = Buffer.alloc(0) } = await blocks.next();
  if (first.length < BLOCK_BYTES) {
    yield inOneCall(first);
    return;
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield first;
    yield* blocks;
  }
  const zlib = createStream();
  pipeline(all(), zlib).catch(() => undefined); // the reader of `zlib` gets the same error
  yield* zlib;
}

/** All have at least `BLOCK_BYTES` but the last one, which may be empty. */
async function* inBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  let block: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    block.push(chunk);
    bytes += chunk.length;
    if (bytes < BLOCK_BYTES) continue;
    yield Buffer.concat(block);
    [block, bytes] = [[], 0];
  }
  yield Buffer.concat(block);
}

/** The checksum of bytes that pass through. */
export class Checksum {
  readonly #hash = createHash("sha256");
  #bytes = 0;

  async *over<Bytes extends Uint8Array>(
    chunks: AsyncIterable<Bytes>,
  ): AsyncGenerator<Bytes, void, undefined> {
    for await (const chunk of chunks) {
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
      yield chunk;
    }
  }

  /** Ends it. */
  result(): Content {
    return { bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }
}
