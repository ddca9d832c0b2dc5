// Lines from gzip: small files in one call, others as streams, so memory is bounded by the longest line and a few chunks.

import { isUtf8 } from "node:buffer";
import { pipeline } from "node:stream/promises";
import { createGunzip, gunzipSync } from "node:zlib";
import { damaged, MAKE_AGAIN } from "../damaged.ts";

/** Taken from zlib at once. */
const CHUNK_BYTES = 128 * 1024;
/** This much may wait on either side, so that zlib's thread and ours do not wait for each other in turns. */
const AHEAD = { writableHighWaterMark: 4 * CHUNK_BYTES, readableHighWaterMark: 4 * CHUNK_BYTES };
/** What a file holds uncompressed at most for it to be unzipped in one call. */
const SMALL_BYTES = 8 * CHUNK_BYTES;
const NEWLINE = 0x0a;

export interface ReadOptions {
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
    return gunzipSync(file, { maxOutputLength: SMALL_BYTES, rejectGarbageAfterEnd: true });
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
