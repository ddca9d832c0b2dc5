// Undoes the content encoding of a body (RFC 9110 §8.4), never beyond the cap.

import { promisify } from "node:util";
import { type BrotliOptions, brotliDecompress, gunzip, type ZlibOptions } from "node:zlib";
import type { AnswerBody } from "./transport.ts";

export const ACCEPT_ENCODING = "gzip, br";

type Decode = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Uint8Array>;

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ["gzip", promisify<Uint8Array, ZlibOptions, Uint8Array>(gunzip)],
  // RFC 9110 §8.4.1.3: "x-gzip" is to be taken as "gzip".
  ["x-gzip", promisify<Uint8Array, ZlibOptions, Uint8Array>(gunzip)],
  ["br", promisify<Uint8Array, BrotliOptions, Uint8Array>(brotliDecompress)],
]);

export async function decodeBody(
  chunks: readonly Uint8Array[],
  contentEncoding: string,
  capBytes: number,
): Promise<AnswerBody> {
  const encoding = contentEncoding.trim().toLowerCase();
  const [first = Buffer.alloc(0)] = chunks;
  const bytes = chunks.length > 1 ? Buffer.concat(chunks) : first;
  if (encoding === "" || encoding === "identity") return { kind: "whole", bytes };
  const decode = DECODERS.get(encoding);
  if (decode === undefined) return { kind: "foreign" };
  try {
    return { kind: "whole", bytes: await decode(bytes, { maxOutputLength: capBytes }) };
  } catch (error) {
    // zlib stops as soon as the output would pass `maxOutputLength`, so a small bomb stays small.
    if (error instanceof RangeError) return { kind: "oversize" };
    return { kind: "broken", cause: "UNDECODABLE" };
  }
}
