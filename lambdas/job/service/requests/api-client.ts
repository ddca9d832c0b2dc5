// Takes one request to its result: credentials, rate limit, cooldown, retries. Every retry is a whole new GET.

import { SyncError } from "../../errors/sync-error.ts";
import type { Random } from "../../runtime/random.ts";
import { type Address, type BodySink, type HttpResponse, NoResponse } from "../http/transport.ts";
import type { RequestKind } from "../rate-limit/rate-limiter.ts";
import type { Authenticator, Authorization } from "./authenticator.ts";
import { type Failure, isThrottled, redirected, requestName, UnusableBody } from "./failure.ts";
import { type BackOffOptions, backOff, RetryDelays, retryAfterMs, statusClass } from "./retry.ts";
import type { Cooldown, Sender } from "./sender.ts";

/** What one GET asks for, and what its result is. */
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

/** Throws `UnusableBody` where a new attempt may fix it, `SyncError` where none does. */
export interface BodyReader<T> {
  add(piece: Uint8Array): void;
  /** The result, once the whole body was added. */
  end(headers: HttpResponse["headers"]): T;
}

interface ApiClientOptions extends BackOffOptions {
  readonly authenticator: Authenticator;
  readonly sender: Sender;
  readonly cooldown: Cooldown;
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
  /** What the service averages its limits over. */
  readonly limitWindowMs: number;
}

type ReadResult<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "failure"; readonly failure: Failure };

type Attempt<T> =
  | ReadResult<T>
  /** The credentials were refused. `renewed`: those to send the request again with. */
  | { readonly kind: "refused"; readonly renewed: Authorization | undefined }
  /** The credentials became stale while the request waited for permission to send. */
  | { readonly kind: "not-sent" };

export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #delays: RetryDelays;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    this.#delays = new RetryDelays(options.random, options.limitWindowMs);
  }

  async get<T>(request: ApiRequest<T>, signal?: AbortSignal): Promise<T> {
    const { authenticator, cooldown } = this.#options;
    let failures = 0;
    let successes = cooldown.successes;
    let renewed: Authorization | undefined;
    for (;;) {
      const current = renewed ?? authenticator.authorize(signal);
      const authorization = current instanceof Promise ? await current : current;
      const attempt = await this.#attempt(request, authorization, signal);
      // A request sent again after a renewal is no retry and uses up no attempt.
      renewed = attempt.kind === "refused" ? attempt.renewed : undefined;
      if (attempt.kind === "value") {
        cooldown.succeeded();
        this.#delays.succeeded();
        return attempt.value;
      }
      if (attempt.kind !== "failure") continue;
      // A 429 while other requests succeed is the price of sharing a limit, not a failure of this request.
      if (!isThrottled(attempt.failure) || cooldown.successes === successes) failures += 1;
      successes = cooldown.successes;
      await this.#backOff(request.url, attempt.failure, failures, signal);
    }
  }

  async #attempt<T>(
    request: ApiRequest<T>,
    authorization: Authorization,
    signal: AbortSignal | undefined,
  ): Promise<Attempt<T>> {
    const { clock, sender } = this.#options;
    const pieces = request.reader && new BodyPieces(request.reader());
    let response: HttpResponse;
    try {
      const permit = sender.tryAdmit(request.kind, signal) ?? (await sender.admit(request.kind, signal));
      if (!authorization.isCurrent) {
        permit.cancel();
        void authorization.settle({ kind: "unanswered" });
        return { kind: "not-sent" };
      }
      const { url, bodyCapBytes } = request;
      const headers = { ...this.#options.headers, ...authorization.headers(url) };
      const sent = { method: "GET", url, headers, bodyCapBytes, ...(pieces && { sink: pieces }) } as const;
      response = await sender.send(permit, sent, signal);
    } catch (error) {
      void authorization.settle({ kind: "unanswered" });
      if (error instanceof NoResponse) return { kind: "failure", failure: error };
      throw error;
    }
    const setCookies = response.headers.get("set-cookie") ?? [];
    if (statusClass(response.status) === "renew") {
      return {
        kind: "refused",
        renewed: await authorization.settle({ kind: "refused", setCookies }, signal),
      };
    }
    void authorization.settle({ kind: "accepted", setCookies });
    return readResponse(request, response, clock.now(), pieces);
  }

  async #backOff(
    url: Address,
    failure: Failure,
    failures: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { cooldown } = this.#options;
    const requestedMs = failure.kind === "status" ? failure.retryAfterMs : undefined;
    const isSilent = requestedMs === undefined && isThrottled(failure);
    const delayMs = Math.max(requestedMs ?? 0, this.#delays.after(failure, failures));
    const isForAll = requestedMs !== undefined || isSilent;
    if (isForAll && failure.kind === "status") {
      cooldown.extend(requestedMs ?? delayMs, failure.status, { isAsked: !isSilent });
    }
    const waitsFor = isSilent ? "throttled" : isForAll ? "retry-after" : "retry";
    const request = requestName("GET", url);
    const attempt = { request, url: new URL(url.href), failure, failures, delayMs, waitsFor } as const;
    await backOff(attempt, this.#options, signal);
  }
}

/** Reads any response but a 401. Throws `SyncError` where no further attempt can help. */
function readResponse<T>(
  request: ApiRequest<T>,
  response: HttpResponse,
  nowMs: number,
  pieces: BodyPieces<T> | undefined,
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
      const remedy = "Check the network between here and the service.";
      return { kind: "failure", failure: new UnusableBody(`a body that broke off (${body.cause})`, remedy) };
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
    return { kind: "failure", failure: error };
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

/** Keeps what the reader throws until the response is read. */
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

/** The URL of a path of the interface, below the base. The path is not resolved, so it cannot leave the origin. */
export function endpoint(base: URL, path: `/v1/${string}`): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/$/, "") + path;
  return url;
}
