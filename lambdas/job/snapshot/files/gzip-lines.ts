// Lines as one gzip member: small files in one call, others as streams.

import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip, gunzipSync, gzipSync } from "node:zlib";
import { damaged, MAKE_AGAIN } from "./damaged.ts";

/** A block has at most this many bytes, or one longer line. */
const BLOCK_BYTES = 512 * 1024;
/** Of gzip. Measured on events of 2 KB: level 6 takes three times as long and makes files a seventh smaller. */
const LEVEL = 4;
/** What is smaller takes less time in one call than on its way to zlib's thread and back. */
const SMALL_BYTES = 128 * 1024;
/** Lines that are fewer take no more memory than this. */
const FIRST_BYTES = 4 * 1024;
/** In UTF-8, of one UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;

/** Without their newlines; bytes are copied at once. */
export type Lines = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

interface GzipOptions {
  readonly level?: number;
  /** Called with all uncompressed bytes, in order; each is valid until it returns. */
  readonly onBytes?: (bytes: Uint8Array) => unknown;
}

/** Takes lines only as fast as the result is read; an error of `lines` passes through unchanged. */
export async function* gzipLines(
  lines: Lines,
  { level = LEVEL, onBytes = () => undefined }: GzipOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const blocks = lineBlocks(lines);
  const first = await blocks.next();
  // Only before one long line is a block short that is not the last.
  const isShort = first.done === true || first.value.length <= SMALL_BYTES;
  const second = isShort ? await blocks.next() : undefined;
  if (second?.done) {
    const text = first.value ?? Buffer.alloc(0);
    onBytes(text);
    yield gzipSync(text, { level });
    return;
  }
  const gzip = createGzip({ level, chunkSize: SMALL_BYTES });
  const ready: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => ready.push(chunk));
  gzip.on("error", () => undefined); // the call that writes gets it
  const write = (block: Buffer): Promise<void> => {
    onBytes(block);
    return new Promise((resolve, reject) => {
      gzip.write(block, (error) => (error ? reject(error) : resolve()));
    });
  };
  try {
    if (second && first.value) await write(first.value);
    for (let next = second ?? first; !next.done; ) {
      // The next block is collected while zlib's thread works on this one.
      const [following] = await Promise.all([blocks.next(), write(next.value)]);
      next = following;
      yield* ready.splice(0);
    }
    gzip.end();
    await once(gzip, "end");
    yield* ready;
  } finally {
    gzip.destroy();
    await blocks.return(undefined);
  }
}

/** The bytes of a line in a file, its newline included. */
export function lineBytes(line: string | Uint8Array): number {
  return (typeof line === "string" ? Buffer.byteLength(line) : line.length) + 1;
}

/**
 * Whole lines in UTF-8, each with its newline. A block is valid until the second block after it is asked for: its memory is used
 * again, because new memory for each block would keep the garbage collector busy.
 */
async function* lineBlocks(lines: Lines): AsyncGenerator<Buffer, void, undefined> {
  let before: Buffer<ArrayBuffer> | undefined;
  let block = Buffer.allocUnsafeSlow(FIRST_BYTES);
  let used = 0;
  for await (const line of lines) {
    // To count the bytes takes as long as to write them, so they are counted only where they might not fit.
    const isText = typeof line === "string";
    if (used + line.length * (isText ? MAX_BYTES_PER_UNIT : 1) + 1 > block.length) {
      const size = lineBytes(line);
      if (used > 0 && used + size > BLOCK_BYTES) {
        yield block.subarray(0, used);
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
  if (used > 0) yield block.subarray(0, used);
}

const NEWLINE = 0x0a;

function grown(block: Buffer, used: number, more: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(Math.max(Math.min(2 * block.length, BLOCK_BYTES), used + more));
  block.copy(larger, 0, 0, used);
  return larger;
}

/** Taken from zlib at once. */
const CHUNK_BYTES = 128 * 1024;
/** This much may wait on either side, so that zlib's thread and ours do not wait for each other in turns. */
const AHEAD = { writableHighWaterMark: 4 * CHUNK_BYTES, readableHighWaterMark: 4 * CHUNK_BYTES };
/** What a file holds uncompressed at most for it to be unzipped in one call. */
const SMALL_TEXT_BYTES = 8 * CHUNK_BYTES;

interface ReadOptions {
  /** The key of the file, for errors. */
  readonly what: string;
  /** What to do when it is damaged. Default: delete it and start again. */
  readonly remedy?: string;
  /** Called with all uncompressed bytes, in order. */
  readonly onBytes?: (bytes: Uint8Array) => unknown;
}

/**
 * The lines of one of our files. Throws `STORE_CORRUPT` for anything but whole, non-empty lines of UTF-8 in
 * one gzip member; errors of `chunks` pass through unchanged.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): AsyncGenerator<string, void, undefined> {
  // Line by line: a text of all lines takes twice the memory if one character needs it, and stays in memory as long as one of them.
  for await (const line of readLineBytes(chunks, options)) yield line.toString("utf8");
}

/** The same, as bytes: each line is valid until the next one is asked for. */
export async function* readLineBytes(
  chunks: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const { what, remedy = MAKE_AGAIN, onBytes } = options;
  let line: Uint8Array[] = []; // the beginning of a line whose end has not come yet
  for await (const chunk of unzipped(chunks, { what, remedy })) {
    onBytes?.(chunk);
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      const whole = line.length === 0 ? rest : Buffer.concat([...line, rest]);
      if (whole.length === 0) throw damaged(what, "it holds an empty line", remedy);
      if (!isUtf8(whole)) throw damaged(what, "it is not UTF-8", remedy);
      yield whole;
      line = [];
      start = end + 1;
    }
    line.push(Buffer.from(chunk.subarray(start)));
  }
  if (line.length === 0) throw damaged(what, "it holds no line", remedy);
  if (line.some(({ length }) => length > 0)) throw damaged(what, "its last line has no end", remedy);
}

/**
 * The uncompressed bytes in chunks, each valid until the next one is asked for. Throws `STORE_CORRUPT` for anything but one
 * gzip member; errors of `chunks` pass through unchanged.
 */
export async function* unzipped(
  chunks: AsyncIterable<Uint8Array>,
  { what, remedy = MAKE_AGAIN }: ReadOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const source = { failed: false };
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (error) {
      source.failed = true;
      throw error;
    }
  }
  const bytes = watched();
  try {
    const start = await upTo(bytes, CHUNK_BYTES);
    const small = start.isWhole ? unzippedSmall(Buffer.concat(start.chunks)) : undefined;
    if (small?.length) yield small;
    else {
      const gunzip = createGunzip({ chunkSize: CHUNK_BYTES, rejectGarbageAfterEnd: true, ...AHEAD });
      for await (const chunk of piped(startingWith(start.chunks, bytes), gunzip)) {
        yield chunk;
        // zlib writes on into the rest of a buffer that is not full.
        if (chunk.byteOffset + chunk.length === chunk.buffer.byteLength) free(chunk);
      }
    }
  } catch (error) {
    throw source.failed ? error : damaged(what, "it is not one whole gzip member", remedy, error);
  } finally {
    await bytes.return(undefined);
  }
}

/** Undefined for a file that is damaged or large once unzipped: the stream reads it, and says what is wrong. */
function unzippedSmall(file: Buffer): Buffer | undefined {
  try {
    return gunzipSync(file, { maxOutputLength: SMALL_TEXT_BYTES, rejectGarbageAfterEnd: true });
  } catch {
    return undefined;
  }
}

/** The first chunks, until they are more than `bytes` or all of them. */
async function upTo<Chunk extends Uint8Array>(
  source: AsyncGenerator<Chunk>,
  bytes: number,
): Promise<{ readonly chunks: readonly Chunk[]; readonly isWhole: boolean }> {
  const chunks: Chunk[] = [];
  for (let taken = 0; taken <= bytes; taken += chunks.at(-1)?.length ?? 0) {
    const next = await source.next();
    if (next.done === true) return { chunks, isWhole: true };
    chunks.push(next.value);
  }
  return { chunks, isWhole: false };
}

async function* startingWith<Chunk>(
  first: readonly Chunk[],
  rest: AsyncGenerator<Chunk>,
): AsyncGenerator<Chunk> {
  yield* first;
  yield* rest;
}

/** The output of `through` for the input `source`. Ends both when either side stops. */
async function* piped(
  source: AsyncIterable<Uint8Array>,
  through: NodeJS.ReadWriteStream & AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  pipeline(source, through).catch(() => undefined); // the reader of `through` gets the same error
  yield* through;
}

/**
 * Gives the whole memory below the bytes back at once: nothing may use it any more. The garbage collector would come to it
 * later, and walks the whole heap for each few of such buffers.
 */
function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
