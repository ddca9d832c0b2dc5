// What one GET asks for, and what a response to it means: use it, try again, or stop.

import { SyncError } from "../../errors/sync-error.ts";
import type { Address } from "../endpoint.ts";
import type { HttpResponse } from "../http/transport.ts";
import type { RequestKind } from "../rate-limit/permit.ts";
import type { BodyPieces, BodyReader } from "./body-pieces.ts";
import { type Failure, requestName, UnusableBody } from "./failure.ts";
import { redirected } from "./redirect.ts";
import { retryAfterMs, statusClass } from "./retry.ts";

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
