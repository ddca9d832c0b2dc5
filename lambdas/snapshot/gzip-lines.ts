// Lines to gzip and back, as streams: memory is bounded by the longest line and a batch.

import { isUtf8 } from "node:buffer";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { damaged, MAKE_AGAIN } from "./damaged.ts";

/** Text that is handed to the compressor at once, in UTF-16 code units: a call per line would cost more than gzip. */
const BATCH_LENGTH = 64 * 1024;
const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export type Lines = AsyncIterable<string> | Iterable<string>;

/** One gzip member. Takes lines only as fast as the result is read; an error of `lines` passes through unchanged. */
export async function* gzipLines(
  lines: Lines,
  options: { readonly level: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  const gzip = createGzip({ level: options.level, chunkSize: CHUNK_BYTES });
  yield* piped(batches(lines), gzip);
}

export interface ReadOptions {
  /** The key of the file, for errors. */
  readonly what: string;
  /** What to do when it is damaged. Default: delete it and start again. */
  readonly remedy?: string;
}

/**
 * The lines of one of our files. Throws `STORE_CORRUPT` for anything but whole, non-empty lines of UTF-8 in
 * one gzip member; errors of `chunks` pass through unchanged. `LineDigest` of the lines is the digest of the
 * file's uncompressed bytes.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): AsyncGenerator<string, void, undefined> {
  const { what, remedy = MAKE_AGAIN } = options;
  let line: Uint8Array[] = []; // the beginning of a line whose end has not come yet
  for await (const chunk of gunzipped(chunks, what, remedy)) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      line.push(chunk);
      continue;
    }
    const whole = Buffer.concat([...line, chunk.subarray(0, end)]);
    line = [chunk.subarray(end + 1)];
    for (const text of decode(whole, what, remedy).split("\n")) {
      if (text === "") throw damaged(what, "it holds an empty line", remedy);
      yield text;
    }
  }
  if (line.length === 0) throw damaged(what, "it holds no line", remedy);
  if (line.some(({ length }) => length > 0)) throw damaged(what, "its last line has no end", remedy);
}

async function* batches(lines: Lines): AsyncGenerator<Uint8Array> {
  let batch = "";
  for await (const line of lines) {
    batch += `${line}\n`;
    if (batch.length < BATCH_LENGTH) continue;
    yield Buffer.from(batch);
    batch = "";
  }
  if (batch !== "") yield Buffer.from(batch);
}

async function* gunzipped(
  chunks: AsyncIterable<Uint8Array>,
  what: string,
  remedy: string,
): AsyncGenerator<Buffer> {
  const source = { failed: false };
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (error) {
      source.failed = true;
      throw error;
    }
  }
  try {
    yield* piped(watched(), createGunzip({ chunkSize: CHUNK_BYTES, rejectGarbageAfterEnd: true }));
  } catch (error) {
    throw source.failed ? error : damaged(what, "it is not one whole gzip member", remedy, error);
  }
}

/** What comes out of `through` when `source` goes in. Ends both, whichever side stops first. */
async function* piped(
  source: AsyncIterable<Uint8Array>,
  through: NodeJS.ReadWriteStream & AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  pipeline(source, through).catch(() => undefined); // whoever reads `through` gets the same error
  yield* through;
}

function decode(bytes: Buffer, what: string, remedy: string): string {
  if (!isUtf8(bytes)) throw damaged(what, "it is not UTF-8", remedy);
  return bytes.toString("utf8");
}
