// What one GET asks for, and what a response to it means: use it, try again, or stop.

import { SyncError } from "../../errors/sync-error.ts";
import type { Address } from "../endpoint.ts";
import type { BodySink, HttpResponse } from "../http/transport.ts";
import type { RequestKind } from "../rate-limit/rate-limiter.ts";
import { type Failure, requestName, retryAfterMs, statusClass, UnusableBody } from "./failure.ts";

export interface ApiRequest<T> {
  readonly url: Address;
  readonly kind: RequestKind;
  readonly bodyCapBytes: number;
  /** Reads a whole 2xx body. Throws `UnusableBody` where a new attempt may fix it, `SyncError` where none does. */
  read(bytes: Uint8Array, headers: HttpResponse["headers"]): T;
  /** For bodies that are too large to be held: a new reader for each attempt, in place of `read`. */
  readonly reader?: () => BodyReader<T>;
  /** What a body over the cap means. */
  oversize(): T;
  /** What a status means that is neither 2xx nor 3xx, 401 or one to retry. Throws `SyncError` to end the run. */
  refused(status: number): T;
}

export type ReadResult<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "failure"; readonly failure: Failure };

/** Reads any response but a 401. Throws `SyncError` where no further attempt can help. */
export function readResponse<T>(
  request: ApiRequest<T>,
  response: HttpResponse,
  nowMs: number,
  pieces?: BodyPieces<T>,
): ReadResult<T> {
  const { status, headers } = response;
  switch (statusClass(status)) {
    case "read":
      return readBody(request, response, pieces);
    case "retry":
      return {
        kind: "failure",
        failure: { kind: "status", status, retryAfterMs: retryAfterMs(headers, nowMs) },
      };
    case "redirect":
      throw redirected(requestName("GET", request.url), request.url, response);
    default:
      return { kind: "value", value: request.refused(status) };
  }
}

function readBody<T>(
  request: ApiRequest<T>,
  { body, headers }: HttpResponse,
  pieces: BodyPieces<T> | undefined,
): ReadResult<T> {
  switch (body.kind) {
    case "whole":
      return usable(() => request.read(body.bytes, headers));
    case "delivered":
      if (pieces === undefined) throw new TypeError("the transport delivered a body that nothing reads");
      return usable(() => pieces.end(headers));
    case "oversize":
      return { kind: "value", value: request.oversize() };
    case "foreign":
      throw foreignEncoding(requestName("GET", request.url));
    case "broken": {
      const why = `a body that broke off (${body.cause})`;
      return {
        kind: "failure",
        failure: { kind: "body", why, remedy: "Check the network between here and the service." },
      };
    }
    case "unread":
      throw new TypeError("the transport did not read a 2xx body");
  }
}

function usable<T>(read: () => T): ReadResult<T> {
  try {
    return { kind: "value", value: read() };
  } catch (error) {
    if (!(error instanceof UnusableBody)) throw error;
    return { kind: "failure", failure: { kind: "body", why: error.message, remedy: error.remedy } };
  }
}

function foreignEncoding(request: string): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered in a content encoding that was not asked for (accepted: gzip, br). Look for a proxy ` +
      "between here and the service that changes it.",
    { fields: { request } },
  );
}

/** Throws `UnusableBody` where a new attempt may fix it, `SyncError` where none does. */
export interface BodyReader<T> {
  add(piece: Uint8Array): void;
  /** The result, once the whole body was added. */
  end(headers: HttpResponse["headers"]): T;
}

export class BodyPieces<T> implements BodySink {
  readonly #reader: BodyReader<T>;
  #failure: { readonly error: unknown } | undefined;

  constructor(reader: BodyReader<T>) {
    this.#reader = reader;
  }

  add(piece: Uint8Array): boolean {
    if (this.#failure) return false;
    try {
      this.#reader.add(piece);
      return true;
    } catch (error) {
      this.#failure = { error };
      return false;
    }
  }

  /** Throws what the reader throws. */
  end(headers: HttpResponse["headers"]): T {
    if (this.#failure) throw this.#failure.error;
    return this.#reader.end(headers);
  }
}

/** A host name has at most 255 characters (RFC 1035 §2.3.4); a longer path helps no reader. */
const MAX_SHOWN = 300;

/** Does not advise to use the target: a forged response could point to a server that collects credentials. */
export function redirected(request: string, url: Address, response: HttpResponse): SyncError {
  const target = redirectTarget(url, response);
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered with status ${response.status}, a redirect to ${target}, which is not followed because ` +
      "the credentials belong to --base-url only. Ask the service's operator for the right address; do " +
      "not copy it from a response.",
    { fields: { request, status: response.status, target } },
  );
}

export function redirectTarget(url: Address, response: HttpResponse): string {
  const location = response.headers.get("location")?.[0];
  return location === undefined
    ? "nowhere (no Location header)"
    : shownTarget(URL.parse(location, url.href), url);
}

/** The origin and, for the same origin, the path. The rest may be secret, path parameters (";jsessionid=…") included. */
export function shownTarget(target: URL | null, { origin }: Pick<Address, "origin">): string {
  if (target?.protocol !== "https:" && target?.protocol !== "http:")
    return "something that is not a web address";
  const [path = ""] = target.origin === origin ? target.pathname.split(";", 1) : [];
  const shown = target.origin + path;
  return shown.length > MAX_SHOWN ? "an address that is too long to show" : shown;
}
