// Collects one response from undici: status and headers, then the body up to a cap.

import { type Dispatcher, errors } from "undici";
import { ByteBuffer } from "./byte-buffer.ts";
import { ProxyError } from "./proxy-tunnel.ts";
import { type HttpResponse, NoResponse } from "./transport.ts";

// Error bodies are read only to reuse the connection.
const UNREAD_CAP_BYTES = 65_536;

// Programming errors, not network errors: a retry cannot succeed.
const PROGRAMMING_ERRORS: ReadonlySet<string> = new Set([
  "UND_ERR_INVALID_ARG",
  "UND_ERR_INVALID_RETURN_VALUE",
  "UND_ERR_NOT_SUPPORTED",
  "UND_ERR_DESTROYED",
  "UND_ERR_CLOSED",
]);

/** A response whose body is still to be decoded. */
export interface Received extends Pick<HttpResponse, "status" | "headers"> {
  /** Of the body, as far as they came. */
  readonly bytes: Uint8Array;
  readonly ending: Ending;
}

type Ending =
  | { readonly kind: "whole" }
  /** Longer than the cap; the rest was not read. */
  | { readonly kind: "oversize" }
  /** Cut off or timed out. `cause` is a short code. */
  | { readonly kind: "broken"; readonly cause: string };

type Controller = Dispatcher.DispatchController;

/**
 * undici's own `request()` adds a stream and an abort signal to each response: a tenth of a run's processor time and
 * a fifth of its memory, for bodies that are small and bounded and only need to be collected.
 */
export class ResponseCollector implements Dispatcher.DispatchHandler {
  /** Rejects with `NoResponse` if no headers came, with the reason of `stop`, or with a programming error. */
  readonly received: Promise<Received>;
  readonly #capBytes: number;
  readonly #resolve: (received: Received) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #body = new ByteBuffer();
  #controller: Controller | undefined;
  #head: Pick<HttpResponse, "status" | "headers"> | undefined;
  #isOver = false;

  /** @param capBytes of a 2xx body; other bodies are not read */
  constructor(capBytes: number) {
    this.#capBytes = capBytes;
    const { promise, resolve, reject } = Promise.withResolvers<Received>();
    this.received = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** The time is up: there is no response, or its body is incomplete. */
  giveUp(reason: string): void {
    this.#breakOff(reason);
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
    this.#head = { status, headers: headerMap(headers) };
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#body.add(chunk);
    const isRead = this.#head !== undefined && this.#head.status < 300;
    if (this.#body.length <= (isRead ? this.#capBytes : UNREAD_CAP_BYTES)) return;
    this.#finish({ kind: "oversize" });
    this.#disconnect(); // stops the download
  }

  onResponseEnd(): void {
    this.#finish({ kind: "whole" });
  }

  onResponseError(_: unknown, error: Error): void {
    try {
      this.#breakOff(networkCode(error), error instanceof ProxyError ? error.proxy : undefined);
    } catch (programmingError) {
      this.#reject(programmingError);
    }
  }

  #breakOff(cause: string, proxy?: string): void {
    if (this.#head === undefined) this.#reject(new NoResponse(cause, proxy));
    else this.#finish({ kind: "broken", cause });
    this.#isOver = true;
  }

  #finish(ending: Ending): void {
    if (this.#isOver || this.#head === undefined) return;
    this.#isOver = true;
    this.#resolve({ ...this.#head, bytes: this.#body.bytes, ending });
  }

  #disconnect(): void {
    this.#controller?.abort(new Error("no longer needed"));
  }
}

type Header = string | readonly string[] | undefined;

function headerMap(headers: Readonly<Record<string, Header>>): ReadonlyMap<string, readonly string[]> {
  const map = new Map<string, readonly string[]>();
  for (const name in headers) {
    const value = headers[name];
    map.set(name.toLowerCase(), typeof value === "string" ? [value] : (value ?? []));
  }
  return map;
}

/** The short code of a network error. Its message is dropped: undici's may quote what was received. */
function networkCode(error: unknown): string {
  if (error instanceof errors.HTTPParserError) return "NOT_HTTP"; // has no code most of the time
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string" || PROGRAMMING_ERRORS.has(code) || code.startsWith("ERR_INVALID_"))
    throw error;
  return error instanceof errors.SocketError ? "CONNECTION_LOST" : code;
}
