// Decodes the content encoding of a body (RFC 9110 §8.4), never beyond the cap.

import type { Transform } from "node:stream";
import { promisify } from "node:util";
import {
  type BrotliOptions,
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  gunzip,
  type ZlibOptions,
} from "node:zlib";
import { ByteBuffer } from "./byte-buffer.ts";
import type { ResponseBody } from "./transport.ts";

export const ACCEPT_ENCODING = "gzip, br";

/** Up to this size a body is decoded in one call, which is faster but holds it twice. */
const AT_ONCE_BYTES = 8 * 1_048_576;
const PIECE_BYTES = 262_144;

interface Decoder {
  atOnce(bytes: Uint8Array, options: { readonly maxOutputLength: number }): Promise<Uint8Array>;
  inPieces(options: { readonly chunkSize: number }): Transform;
}

const GZIP: Decoder = {
  atOnce: promisify<Uint8Array, ZlibOptions, Uint8Array>(gunzip),
  inPieces: createGunzip,
};

const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ["gzip", GZIP],
  // RFC 9110 §8.4.1.3: "x-gzip" is equivalent to "gzip".
  ["x-gzip", GZIP],
  [
    "br",
    {
      atOnce: promisify<Uint8Array, BrotliOptions, Uint8Array>(brotliDecompress),
      inPieces: createBrotliDecompress,
    },
  ],
]);

export async function decodeBody(
  bytes: Uint8Array,
  contentEncoding: string,
  capBytes: number,
): Promise<ResponseBody> {
  const encoding = nameOf(contentEncoding);
  if (encoding === "" || encoding === "identity") return { kind: "whole", bytes };
  const decoder = DECODERS.get(encoding);
  if (decoder === undefined) return { kind: "foreign" };
  try {
    return (await decodeSmall(decoder, bytes, capBytes)) ?? (await decodeLarge(decoder, bytes, capBytes));
  } catch {
    return { kind: "broken", cause: "UNDECODABLE" };
  }
}

/**
 * How many bytes an incomplete, undecodable or oversize body has after decoding, as far as that is known: up to the
 * first error or the first piece beyond the cap, and never less than what came.
 */
export async function decodedLength(
  bytes: Uint8Array,
  contentEncoding: string,
  capBytes: number,
): Promise<number> {
  const decoder = DECODERS.get(nameOf(contentEncoding));
  let decoded = 0;
  if (decoder !== undefined && bytes.length > 0) {
    const stream = decoder.inPieces({ chunkSize: PIECE_BYTES });
    stream.end(bytes);
    try {
      for await (const piece of stream) {
        decoded += piece.length;
        if (decoded > capBytes) break; // which also ends the stream
      }
    } catch {
      // The rest is missing or damaged.
    }
  }
  return Math.max(bytes.length, decoded);
}

function nameOf(contentEncoding: string): string {
  return contentEncoding.trim().toLowerCase();
}

/** Undefined for a body that is too large for one call. */
async function decodeSmall(
  decoder: Decoder,
  bytes: Uint8Array,
  capBytes: number,
): Promise<ResponseBody | undefined> {
  try {
    const maxOutputLength = Math.min(capBytes, AT_ONCE_BYTES);
    return { kind: "whole", bytes: await decoder.atOnce(bytes, { maxOutputLength }) };
  } catch (error) {
    // zlib stops as soon as the output would pass `maxOutputLength`, so a small bomb stays small.
    if (!(error instanceof RangeError)) throw error;
    return capBytes <= AT_ONCE_BYTES ? { kind: "oversize" } : undefined;
  }
}

async function decodeLarge(decoder: Decoder, bytes: Uint8Array, capBytes: number): Promise<ResponseBody> {
  const decoded = new ByteBuffer();
  const stream = decoder.inPieces({ chunkSize: PIECE_BYTES });
  stream.end(bytes);
  for await (const piece of stream) {
    if (decoded.length + piece.length > capBytes) return { kind: "oversize" }; // which also ends the stream
    decoded.add(piece);
  }
  return { kind: "whole", bytes: decoded.bytes };
}
