// Reads what a person gives, a file or standard input, whole: up to a size, for it may be a device, or never end.

import { on } from "node:events";
import { closeSync, openSync, readSync } from "node:fs";

/** Of a secret that a person has. */
export const MOST_SECRET_BYTES = 64 * 1024;

/** Of settings, SQL and stored tokens. */
export const MOST_TEXT_BYTES = 16 * 1024 * 1024;

/** The message continues a sentence: `FILE has more than 65,536 bytes`. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";

  constructor(mostBytes: number) {
    super(`has more than ${mostBytes.toLocaleString("en-US")} bytes`);
  }
}

/** Throws `TooLarge`, and what the source throws. */
export async function readAtMost(pieces: AsyncIterable<Uint8Array>, mostBytes: number): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > mostBytes) throw new TooLarge(mostBytes);
    read.push(piece);
  }
  return Buffer.concat(read);
}

/** Standard input until its end. Throws the signal's reason too. The input is let go of in every case. */
export async function readInputAtMost(
  input: NodeJS.ReadableStream,
  mostBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const pieces = on(input, "data", { signal, close: ["end"] });
  const bounded = boundInput(input, mostBytes, (error) => void pieces.throw?.(error));
  try {
    return Buffer.concat(await Array.fromAsync(pieces, ([piece]) => Buffer.from(piece)));
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    bounded[Symbol.dispose]();
    // An input that is still open must not keep the process.
    input.pause();
  }
}

/** Pauses an input that another one reads once it has brought more, and says so. */
export function boundInput(
  input: NodeJS.ReadableStream,
  mostBytes: number,
  onTooLarge: (error: TooLarge) => void,
): Disposable {
  let bytes = 0;
  const count = (piece: string | Uint8Array): void => {
    bytes += piece.length;
    if (bytes <= mostBytes) return;
    input.pause();
    onTooLarge(new TooLarge(mostBytes));
  };
  input.on("data", count);
  return { [Symbol.dispose]: () => void input.removeListener("data", count) };
}

const PIECE_BYTES = 64 * 1024;

/** For what is read before anything else can happen. Throws `TooLarge`, and the errors of the file system. */
export function readFileAtMostSync(path: string, mostBytes: number): Buffer {
  const file = openSync(path, "r");
  try {
    const read: Buffer[] = [];
    for (let bytes = 0; ; ) {
      const piece = Buffer.alloc(PIECE_BYTES);
      const length = readSync(file, piece);
      if (length === 0) return Buffer.concat(read);
      bytes += length;
      if (bytes > mostBytes) throw new TooLarge(mostBytes);
      read.push(piece.subarray(0, length));
    }
  } finally {
    closeSync(file);
  }
}
