// Decodes the content encoding of a body (RFC 9110 §8.4), never beyond the cap.

import type { Transform } from "node:stream";
import { promisify } from "node:util";
import {
  type BrotliOptions,
  brotliDecompress,
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  gunzip,
  gunzipSync,
  type ZlibOptions,
} from "node:zlib";
import type { HttpResponse, ResponseBody, TransportRequest } from "./transport.ts";

export const ACCEPT_ENCODING = "gzip, br";

const PIECE_BYTES = 262_144;

/** A thread for so few compressed bytes costs more than decoding them here. */
const SMALL_BYTES = 16_384;

interface Bounds {
  readonly maxOutputLength: number;
}

interface Decoder {
  small(bytes: Uint8Array, bounds: Bounds): Uint8Array;
  /** Faster than in pieces, but holds the body twice. */
  atOnce(bytes: Uint8Array, bounds: Bounds): Promise<Uint8Array>;
  inPieces(options: { readonly chunkSize: number }): Transform;
}

const GZIP: Decoder = {
  small: (bytes, bounds) => gunzipSync(bytes, { ...bounds, chunkSize: expectedLength(bytes) }),
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
      small: brotliDecompressSync,
      atOnce: promisify<Uint8Array, BrotliOptions, Uint8Array>(brotliDecompress),
      inPieces: createBrotliDecompress,
    },
  ],
]);

/** At once where little was compressed. */
export function decodeBody(
  bytes: Uint8Array,
  contentEncoding: string,
  capBytes: number,
): ResponseBody | Promise<ResponseBody> {
  const decoder = decoderFor(contentEncoding);
  if (decoder === "identity") return { kind: "whole", bytes };
  if (decoder === undefined) return { kind: "foreign" };
  const bounds = { maxOutputLength: capBytes };
  if (bytes.length >= SMALL_BYTES) return decoder.atOnce(bytes, bounds).then(whole, undecodable);
  try {
    return whole(decoder.small(bytes, bounds));
  } catch (error) {
    return undecodable(error);
  }
}

function whole(bytes: Uint8Array): ResponseBody {
  return { kind: "whole", bytes };
}

/** zlib stops as soon as the output would pass `maxOutputLength`, so a small bomb stays small. */
function undecodable(error: unknown): ResponseBody {
  return error instanceof RangeError ? { kind: "oversize" } : { kind: "broken", cause: "UNDECODABLE" };
}

/** What gzip says at its end (RFC 1952 §2.3.1), with room to see that it ends. A wrong one only costs time. */
function expectedLength(bytes: Uint8Array): number {
  const { buffer, byteOffset, byteLength } = bytes;
  const isize =
    byteLength < 4 ? 0 : new DataView(buffer, byteOffset, byteLength).getUint32(byteLength - 4, true);
  return Math.min(Math.max(64, isize + 1), PIECE_BYTES);
}

/**
 * How many bytes an incomplete, undecodable or oversize body has after decoding, as far as that is known: up to the
 * first error or the first piece beyond the cap, and never less than what came.
 */
async function decodedLength(bytes: Uint8Array, contentEncoding: string, capBytes: number): Promise<number> {
  const decoder = decoderFor(contentEncoding);
  let decoded = 0;
  if (typeof decoder === "object" && bytes.length > 0) {
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

/** A stream that decodes; `identity` where nothing is to be decoded, undefined for an encoding that is not accepted. */
export function decodingStream(contentEncoding: string): Transform | "identity" | undefined {
  const decoder = decoderFor(contentEncoding);
  return typeof decoder === "object" ? decoder.inPieces({ chunkSize: PIECE_BYTES }) : decoder;
}

function decoderFor(contentEncoding: string): Decoder | "identity" | undefined {
  const encoding = contentEncoding.trim().toLowerCase();
  return encoding === "" || encoding === "identity" ? "identity" : DECODERS.get(encoding);
}

/** What came of a response. */
interface Received extends Pick<HttpResponse, "status" | "headers"> {
  /** Of the body, as far as they came. */
  readonly bytes: Uint8Array;
  /** What the body is where not all of it came: too long, cut off or timed out. */
  readonly incomplete: ResponseBody | undefined;
}

/** At once for most bodies that are small or not compressed. */
export function decodeReceived(
  received: Received,
  { bodyCapBytes: capBytes, readsRefusal }: Pick<TransportRequest, "bodyCapBytes" | "readsRefusal">,
): HttpResponse | Promise<HttpResponse> {
  const { status, headers, bytes, incomplete } = received;
  const encoding = headers.get("content-encoding")?.join(",") ?? "";
  const isRefusal = status >= 400 && status < 500;
  const isRead = status < 300 || (isRefusal && readsRefusal === true);
  const respond = (body: ResponseBody): HttpResponse | Promise<HttpResponse> => {
    if (body.kind === "whole") return { status, headers, body, decodedBytes: body.bytes.length };
    if (bytes.length === 0) return { status, headers, body, decodedBytes: 0 };
    // Services count what they sent before they compressed it, also of what is of no use here.
    const counted = decodedLength(bytes, encoding, capBytes);
    return counted.then((decodedBytes) => ({ status, headers, body, decodedBytes }));
  };
  if (!isRead) return respond({ kind: "unread" });
  const body = incomplete ?? decodeBody(bytes, encoding, capBytes);
  return body instanceof Promise ? body.then(respond) : respond(body);
}
