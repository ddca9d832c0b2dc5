// Collects one response from undici: status and headers, then the body up to a cap, which is decoded at its end.

import type { Dispatcher } from "undici";
import errors from "undici/lib/core/errors.js";
import { codeOf } from "../../errors/sync-error.ts";
import { decodeReceived } from "./content-encoding.ts";
import {
  type HttpResponse,
  INVALID_HTTP,
  NoResponse,
  type ResponseBody,
  type TransportRequest,
} from "./transport.ts";

// Error bodies are read only to reuse the connection.
const UNREAD_CAP_BYTES = 65_536;

type CollectedRequest = Pick<TransportRequest, "bodyCapBytes" | "readsRefusal">;

type Controller = Dispatcher.DispatchController;

/**
 * undici's own `request()` adds a stream and an abort signal to each response: a tenth of a run's processor time and
 * a fifth of its memory, for bodies that are small and bounded and only need to be collected.
 */
export class ResponseCollector implements Dispatcher.DispatchHandler {
  /** Rejects with `NoResponse` if no headers came, with the reason of `stop`, or with a programming error. */
  readonly response: Promise<HttpResponse>;
  readonly #request: CollectedRequest;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #body = new ByteBuffer();
  #controller: Controller | undefined;
  #head: Pick<HttpResponse, "status" | "headers"> | undefined;
  #isOver = false;

  /** Only a 2xx body is read. */
  constructor(request: CollectedRequest) {
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
    if (this.#body.length <= (this.#isRead ? this.#request.bodyCapBytes : UNREAD_CAP_BYTES)) return;
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

  get #isRead(): boolean {
    return this.#head !== undefined && this.#head.status < 300;
  }

  #breakOff(failure: NoResponse): void {
    const { reason: cause } = failure;
    if (this.#head === undefined) this.#reject(failure);
    else this.#finish({ kind: "broken", cause });
    this.#isOver = true;
  }

  #finish(incomplete?: ResponseBody): void {
    if (this.#isOver || this.#head === undefined) return;
    this.#isOver = true;
    const { status, headers } = this.#head;
    this.#resolve(decodeReceived({ status, headers, bytes: this.#body.bytes, incomplete }, this.#request));
  }

  #disconnect(): void {
    this.#controller?.abort(new Error("no longer needed"));
  }
}

type Header = string | readonly string[] | undefined;

/** undici has made the names lower case. Few of them are ever asked for. */
function responseHeaders(headers: Readonly<Record<string, Header>>): HttpResponse["headers"] {
  return {
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

/** Collects the pieces of a body in one buffer, so that a piece of one byte takes one byte. */
const FIRST_CAPACITY = 65_536;

/** Grows by doubling and frees the old memory at once: it holds at most twice the bytes, and only while it grows. */
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
