// Lines as one gzip member: small files in one call, others as streams.

import { once } from "node:events";
import { createGzip, gzipSync } from "node:zlib";

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

export interface GzipOptions {
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
