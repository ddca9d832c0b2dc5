// Takes one request to its result: credentials, rate limit, cooldown, retries. Every retry is a whole new GET.

import { SyncError } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Address, BodySink, HttpResponse } from "../http/transport.ts";
import type { RequestKind } from "../rate-limit/rate-limiter.ts";
import type { Authenticator, Authorization } from "./authenticator.ts";
import { BadStatus, isFailure, isThrottled, redirected, requestName, UnusableBody } from "./failure.ts";
import { retryAfterMs, statusClass } from "./retry.ts";
import type { Sender } from "./sender.ts";

/** What one GET asks for, and what its result is. */
export interface ApiRequest<T> {
  readonly url: Address;
  readonly kind: RequestKind;
  readonly bodyCapBytes: number;
  /** Whether a 2xx body may be too large to be held. Then it is read piece by piece, else as one. */
  readonly isLarge: boolean;
  /** A new one for each attempt. Throws `UnusableBody` where a new attempt may fix it, `SyncError` where none does. */
  reader(): BodyReader<T>;
  /** What a body over the cap means. */
  oversize(): T;
  /** What a status means that is neither 2xx nor 3xx, 401 or one to retry. Throws `SyncError` to end the run. */
  refused(status: number): T;
}

interface BodyReader<T> {
  add(piece: Uint8Array): void;
  /** The result, once the whole body was added. */
  end(headers: HttpResponse["headers"]): T;
}

export class ApiClient {
  readonly #authenticator: Authenticator;
  readonly #sender: Sender;
  readonly #clock: Pick<Clock, "now">;

  constructor(authenticator: Authenticator, sender: Sender, clock: Pick<Clock, "now">) {
    this.#authenticator = authenticator;
    this.#sender = sender;
    this.#clock = clock;
  }

  async get<T>(request: ApiRequest<T>, signal?: AbortSignal): Promise<T> {
    let failures = 0;
    let successes = this.#sender.successes;
    let renewed: Promise<Authorization> | undefined;
    for (;;) {
      const authorization = await (renewed ?? this.#authenticator.authorize(signal));
      const reader = new LatchedReader(request.reader());
      try {
        const response = await this.#send(
          request,
          authorization,
          request.isLarge ? reader : undefined,
          signal,
        );
        // A request sent again after a renewal is no retry and uses up no attempt.
        renewed = response && authorization.settle(response, signal);
        if (response === undefined || renewed) continue;
        const result = readResponse(request, response, reader, this.#clock.now());
        this.#sender.succeeded();
        return result;
      } catch (error) {
        if (!isFailure(error)) throw error;
        renewed = undefined;
        // A 429 while other requests succeed is the price of sharing a limit, not a failure of this request.
        if (!isThrottled(error) || this.#sender.successes === successes) failures += 1;
        successes = this.#sender.successes;
        await this.#sender.backOff("GET", request.url, error, failures, signal);
      }
    }
  }

  /** Undefined where nothing was sent: the credentials became stale while the request waited for permission to send. */
  async #send<T>(
    { url, kind, bodyCapBytes }: ApiRequest<T>,
    authorization: Authorization,
    sink: BodySink | undefined,
    signal: AbortSignal | undefined,
  ): Promise<HttpResponse | undefined> {
    try {
      const permit = await this.#sender.admit(kind, signal);
      if (authorization.isCurrent) {
        const headers = authorization.headers(url);
        return await this.#sender.send(permit, { method: "GET", url, headers, bodyCapBytes, sink }, signal);
      }
      permit.cancel();
    } catch (error) {
      void authorization.settle();
      throw error;
    }
    void authorization.settle();
    return undefined;
  }
}

/** Reads any response but a 401. Throws a `Failure` where a further attempt may help, `SyncError` where none can. */
function readResponse<T>(
  request: ApiRequest<T>,
  response: HttpResponse,
  reader: BodyReader<T>,
  nowMs: number,
): T {
  const { status, headers } = response;
  switch (statusClass(status)) {
    case "read":
      return readBody(request, response, reader);
    case "retry":
      throw new BadStatus(status, retryAfterMs(headers, nowMs));
    case "redirect":
      throw redirected(requestName("GET", request.url), request.url, response);
    default:
      return request.refused(status);
  }
}

function readBody<T>(request: ApiRequest<T>, { body, headers }: HttpResponse, reader: BodyReader<T>): T {
  switch (body.kind) {
    case "whole":
      reader.add(body.bytes);
      return reader.end(headers);
    case "delivered":
      return reader.end(headers);
    case "oversize":
      return request.oversize();
    case "foreign":
      throw foreignEncoding(requestName("GET", request.url));
    case "broken":
      throw new UnusableBody(
        `a body that broke off (${body.cause})`,
        "Check the network between here and the service.",
      );
    case "unread":
      throw new TypeError("the transport did not read a 2xx body");
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

/** Keeps what a reader throws until the response is read. */
export class LatchedReader<T> implements BodySink {
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

/** The URL of a path of the interface, below the base. The path is not resolved, so it cannot leave the origin. */
export function endpoint(base: URL, path: `/v1/${string}`): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/$/, "") + path;
  return url;
}
