// Decodes the content encoding of a body (RFC 9110 §8.4), never beyond the cap.

import { brotliDecompressSync, constants, gunzipSync } from "node:zlib";
import { codeOf } from "../../errors/sync-error.ts";
import type { HttpResponse, ResponseBody, TransportRequest } from "./transport.ts";

export const ACCEPT_ENCODING = "gzip, br";

const PIECE_BYTES = 262_144;

/** Of a body that is not read no more is decoded to count it. */
const MAX_COUNTED_BYTES = 4 * 1_048_576;

/** Throws a `RangeError` beyond `maxOutputLength`. Of a text that is cut off `isPart` gives what there is. */
type Decoder = (bytes: Uint8Array, maxOutputLength: number, isPart: boolean) => Uint8Array;

const gzip: Decoder = (bytes, maxOutputLength, isPart) => {
  const finishFlush = isPart ? constants.Z_SYNC_FLUSH : constants.Z_FINISH;
  return gunzipSync(bytes, { maxOutputLength, finishFlush, chunkSize: expectedLength(bytes) });
};

const brotli: Decoder = (bytes, maxOutputLength, isPart) => {
  const finishFlush = isPart ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_FINISH;
  return brotliDecompressSync(bytes, { maxOutputLength, finishFlush });
};

/** RFC 9110 §8.4.1.3: "x-gzip" is equivalent to "gzip". */
const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["br", brotli],
]);

/** What servers write where they encode nothing: the names of no encoding, and those of a character set. */
const NONE: ReadonlySet<string> = new Set(["", "identity", "none", "utf-8", "utf8"]);

/** The encodings that `Content-Encoding` names, in lower case and in their order. */
export function encodingsIn(contentEncoding: string): readonly string[] {
  const named = contentEncoding.toLowerCase().split(",");
  return named.map((name) => name.trim()).filter((name) => !NONE.has(name));
}

function decoderFor(contentEncoding: string): Decoder | "identity" | undefined {
  const [first, ...others] = encodingsIn(contentEncoding);
  if (first === undefined) return "identity";
  return others.length === 0 ? DECODERS.get(first) : undefined;
}

export function decodeBody(bytes: Uint8Array, contentEncoding: string, capBytes: number): ResponseBody {
  const decoder = decoderFor(contentEncoding);
  // Servers name the encoding of an empty body as well.
  if (decoder === "identity" || bytes.length === 0) return { kind: "whole", bytes };
  if (decoder === undefined) return { kind: "foreign" };
  try {
    // zlib stops as soon as the output would pass the cap, so a small bomb stays small.
    return { kind: "whole", bytes: decoder(bytes, capBytes, false) };
  } catch (error) {
    if (error instanceof RangeError) return { kind: "oversize" };
    return { kind: "broken", cause: codeOf(error) === "Z_BUF_ERROR" ? "CUT_OFF" : "UNDECODABLE" };
  }
}

/** What gzip says at its end (RFC 1952 §2.3.1), with room to see that it ends. A wrong one only costs time. */
function expectedLength(bytes: Uint8Array): number {
  const { buffer, byteOffset, byteLength } = bytes;
  const isize =
    byteLength < 4 ? 0 : new DataView(buffer, byteOffset, byteLength).getUint32(byteLength - 4, true);
  return Math.min(Math.max(64, isize + 1), PIECE_BYTES);
}

/** How many bytes a body has that is not used, as far as it can be decoded, and never less than what came. */
function decodedLength(bytes: Uint8Array, contentEncoding: string, capBytes: number): number {
  const decoder = decoderFor(contentEncoding);
  if (typeof decoder !== "function" || bytes.length === 0) return bytes.length;
  const mostBytes = Math.min(capBytes, MAX_COUNTED_BYTES);
  try {
    return Math.max(bytes.length, decoder(bytes, mostBytes, true).length);
  } catch (error) {
    return error instanceof RangeError ? Math.max(bytes.length, mostBytes + 1) : bytes.length;
  }
}

/** What came of a response. */
interface Received extends Pick<HttpResponse, "status" | "headers"> {
  /** Of the body, as far as they came. */
  readonly bytes: Uint8Array;
  /** What the body is where not all of it came: too long, cut off or timed out. */
  readonly incomplete: ResponseBody | undefined;
}

export function decodeReceived(
  { status, headers, bytes, incomplete }: Received,
  { bodyCapBytes: capBytes, readsRefusal }: Pick<TransportRequest, "bodyCapBytes" | "readsRefusal">,
): HttpResponse {
  const encoding = headers.get("content-encoding")?.join(",") ?? "";
  const isRead = status < 300 || (status >= 400 && status < 500 && readsRefusal === true);
  const body: ResponseBody = isRead
    ? (incomplete ?? decodeBody(bytes, encoding, capBytes))
    : { kind: "unread" };
  // Services count what they sent before they compressed it, also of what is of no use here.
  const decodedBytes = body.kind === "whole" ? body.bytes.length : decodedLength(bytes, encoding, capBytes);
  return { status, headers, body, decodedBytes };
}
