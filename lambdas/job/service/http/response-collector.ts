// Collects one response from undici: status and headers, then the body up to a cap, which is decoded at its end.

import { brotliDecompressSync, constants, gunzipSync } from "node:zlib";
import type { Dispatcher } from "undici";
import errors from "undici/lib/core/errors.js";
import { codeOf } from "../../errors/sync-error.ts";
import {
  type HttpResponse,
  INVALID_HTTP,
  NoResponse,
  type ResponseBody,
  type TransportRequest,
} from "./transport.ts";

// Error bodies are read for a code at most, and to reuse the connection.
const ERROR_CAP_BYTES = 65_536;

type Controller = Dispatcher.DispatchController;

/**
 * undici's own `request()` adds a stream and an abort signal to each response: a tenth of a run's processor time and
 * a fifth of its memory, for bodies that are small and bounded and only need to be collected.
 */
export class ResponseCollector implements Dispatcher.DispatchHandler {
  /** Rejects with `NoResponse` if no headers came, with the reason of `stop`, or with a programming error. */
  readonly response: Promise<HttpResponse>;
  readonly #request: Pick<TransportRequest, "bodyCapBytes" | "readsRefusal">;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #body = new ByteBuffer();
  #controller: Controller | undefined;
  #head: Pick<HttpResponse, "status" | "headers"> | undefined;
  #isOver = false;

  constructor(request: Pick<TransportRequest, "bodyCapBytes" | "readsRefusal">) {
    this.#request = request;
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    this.response = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** The time is up: there is no response, or its body is incomplete. */
  giveUp(reason: string): void {
    this.#breakOff(new NoResponse(reason));
    this.#disconnect();
  }

  /** The response is no longer needed. */
  stop(reason: unknown): void {
    this.#isOver = true;
    this.#reject(reason);
    this.#disconnect();
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#isOver) this.#disconnect();
  }

  onResponseStart(_: Controller, status: number, headers: Readonly<Record<string, Header>>): void {
    this.#head = { status, headers: responseHeaders(headers) };
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#body.add(chunk);
    if (this.#body.length <= this.#capBytes) return;
    this.#finish({ kind: "oversize" });
    this.#disconnect(); // stops the download
  }

  onResponseEnd(): void {
    this.#finish();
  }

  onResponseError(_: unknown, error: Error): void {
    const failure = noResponseOf(error);
    if (failure) this.#breakOff(failure);
    else this.#reject(error);
  }

  /** A 2xx, and a 4xx where the request says so. */
  get #isRead(): boolean {
    const status = this.#head?.status ?? 0;
    return status < 300 || (this.#request.readsRefusal === true && status >= 400 && status < 500);
  }

  get #capBytes(): number {
    const { bodyCapBytes } = this.#request;
    return (this.#head?.status ?? 0) < 300 ? bodyCapBytes : Math.min(bodyCapBytes, ERROR_CAP_BYTES);
  }

  #breakOff(failure: NoResponse): void {
    const { reason: cause, proxy } = failure;
    // undici names a controller when it begins to write the request.
    const isUnsent = this.#controller === undefined;
    if (isUnsent) this.#reject(new NoResponse(cause, proxy, undefined, true));
    else if (this.#head === undefined) this.#reject(failure);
    else this.#finish({ kind: "broken", cause });
    this.#isOver = true;
  }

  #finish(incomplete?: ResponseBody): void {
    if (this.#isOver || this.#head === undefined) return;
    this.#isOver = true;
    const { status, headers } = this.#head;
    const { bytes } = this.#body;
    const capBytes = this.#capBytes;
    const encoding = headers.get("content-encoding")?.join(",") ?? "";
    const body: ResponseBody = this.#isRead
      ? (incomplete ?? decodeBody(bytes, encoding, capBytes))
      : { kind: "unread" };
    // Services count what they sent before they compressed it, also of what is of no use here.
    const decodedBytes =
      body.kind === "whole" ? body.bytes.length : decodedLength(bytes, encoding, this.#request.bodyCapBytes);
    this.#resolve({ status, headers, body, decodedBytes });
  }

  #disconnect(): void {
    this.#controller?.abort(new Error("no longer needed"));
  }
}

type Header = string | readonly string[] | undefined;

/** undici has made the names lower case. Few of them are ever asked for. */
function responseHeaders(headers: Readonly<Record<string, Header>>): HttpResponse["headers"] {
  return {
    keys: () => Object.keys(headers),
    get: (name) => {
      const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
      return typeof value === "string" ? [value] : value;
    },
  };
}

/** Programming errors, not network errors: a retry cannot succeed. */
const PROGRAMMING_ERROR =
  /^UND_ERR_(?:INVALID_ARG|INVALID_RETURN_VALUE|NOT_SUPPORTED|DESTROYED|CLOSED)$|^ERR_INVALID_/;

/**
 * Why a connection gives no response; undefined for a programming error. A message may quote what was received: of it only
 * constants of OpenSSL and of the HTTP parser are used.
 * @param proxy the one that the connection is to
 */
export function noResponseOf(error: Error, proxy?: string): NoResponse | undefined {
  if (error instanceof NoResponse) return error;
  if (error instanceof errors.HTTPParserError) {
    const [, says = "unknown"] = /\(([A-Z][\w ,.'`/-]{0,80})\)$/.exec(error.message) ?? [];
    return new NoResponse(says.startsWith("Expected HTTP/") ? "NOT_HTTP" : INVALID_HTTP, proxy, says);
  }
  const code = codeOf(error);
  if (code === undefined || PROGRAMMING_ERROR.test(code)) return undefined;
  if (error instanceof errors.SocketError) return new NoResponse("CONNECTION_LOST", proxy);
  // Node.js has no code for these reasons of OpenSSL to refuse a certificate.
  const isWeak = code === "UNSPECIFIED" && error.message.endsWith(" too weak");
  return new NoResponse(isWeak ? "CERT_TOO_WEAK" : code, proxy);
}

const FIRST_CAPACITY = 65_536;

/**
 * The pieces of a body, of which one of one byte takes one byte. Grows by doubling and frees the old memory at once: it
 * holds at most twice the bytes, and only while it grows.
 */
export class ByteBuffer {
  /** A body that arrives in one piece, as most do, is not copied. */
  #only: Uint8Array | undefined;
  #memory = new ArrayBuffer(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Read it when all pieces have been added. */
  get bytes(): Uint8Array {
    return this.#only ?? new Uint8Array(this.#memory, 0, this.#length);
  }

  add(piece: Uint8Array): void {
    if (this.#length === 0) this.#only = piece;
    else {
      const first = this.#only;
      this.#only = undefined;
      if (first) this.#copy(first, 0);
      this.#copy(piece, this.#length);
    }
    this.#length += piece.length;
  }

  #copy(piece: Uint8Array, at: number): void {
    const needed = at + piece.length;
    let capacity = Math.max(FIRST_CAPACITY, this.#memory.byteLength);
    while (capacity < needed) capacity *= 2;
    // Frees the old memory at once; left to the garbage collector, gigabytes of it would accumulate.
    if (capacity !== this.#memory.byteLength) this.#memory = this.#memory.transfer(capacity);
    new Uint8Array(this.#memory).set(piece, at);
  }
}

export const ACCEPT_ENCODING = "gzip, br";

const PIECE_BYTES = 262_144;

/** How much of a body that is not read is decoded to count it. */
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
