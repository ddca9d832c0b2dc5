// Takes one request to its result: credentials, rate limit, retries. Every retry is a whole new GET.

import { SyncError } from "../../errors/sync-error.ts";
import { type Address, type HttpResponse, NoResponse, TIMED_OUT } from "../http/transport.ts";
import type { RequestKind } from "../rate-limit/rate-limiter.ts";
import type { Authenticator, Authorization } from "./authenticator.ts";
import {
  BadStatus,
  type Failure,
  isThrottled,
  NotJson,
  redirected,
  requestName,
  UnusableBody,
  unusableBody,
} from "./failure.ts";
import { statusClass } from "./retry.ts";
import type { Sender } from "./sender.ts";

/** What one GET asks for, and what its result is. */
export interface ApiRequest<T> {
  readonly url: Address;
  readonly kind: RequestKind;
  readonly bodyCapBytes: number;
  /** How long one attempt may take, and how many may run out of time; without it the transport's own, and as many as of any failure. */
  readonly timeLimit?: { ms(): number; readonly attempts: number };
  /** The event was asked for before, so no cache may answer (RFC 9111 §5.2.1.4). */
  readonly isAgain?: boolean;
  /** A failure is not retried: whether it comes now is the question. */
  readonly isOnce?: boolean;
  /** Whether this status is asked for once more after a while, before `refused` says what it means. */
  asksAgain?(status: number): boolean;
  /** Reads a 2xx. Throws `UnusableBody` where a new attempt may fix it, `SyncError` where none does. */
  read(body: Uint8Array, response: Pick<HttpResponse, "status" | "headers">): T;
  /** What a body over the cap means. */
  oversize(): T;
  /** What a 202 means beside that the answer is not ready (RFC 9110 §15.3.3), which is waited for. */
  pending(retryAfterMs: number | undefined): BadStatus;
  /**
   * What a status means that is neither 2xx nor 3xx, 401 or one to retry. Throws `SyncError` to end the run.
   * @param ageMs how long a cache has kept the response; absent where it says nothing of a cache
   */
  refused(status: number, retryAfterMs: number | undefined, ageMs: number | undefined): T;
}

export class ApiClient {
  readonly #authenticator: Authenticator;
  readonly #sender: Sender;

  constructor(authenticator: Authenticator, sender: Sender) {
    this.#authenticator = authenticator;
    this.#sender = sender;
  }

  async get<T>(request: ApiRequest<T>, signal?: AbortSignal): Promise<T> {
    let failures = 0;
    let timeOuts = 0;
    let successes = this.#sender.successes;
    let renewed: Promise<Authorization> | undefined;
    let isAgain = request.isAgain ?? false;
    for (;;) {
      const authorization = await (renewed ?? this.#authenticator.authorize(signal));
      try {
        const response = await this.#send({ ...request, isAgain }, authorization, signal);
        // A request sent again after a renewal is no retry and uses up no attempt.
        renewed = response && authorization.settle(response, signal, request.url);
        if (response === undefined || renewed) continue;
        const { status } = response;
        const waitMs = this.#sender.askedWaitMs(response);
        if (!isAgain && !request.isOnce && request.asksAgain?.(status)) {
          isAgain = true;
          throw new BadStatus(status, Math.max(AGAIN_AFTER_MS, waitMs ?? 0));
        }
        const result = this.#readResponse(request, response, waitMs);
        // An answer that asks to wait is a refusal, whatever its status.
        if (waitMs === undefined || statusClass(status) === "read") this.#sender.succeeded();
        return result;
      } catch (error) {
        if (!isFailure(error)) throw error;
        renewed = undefined;
        // A 429 while other requests succeed is the price of sharing a limit, not a failure of this request.
        if (!isThrottled(error) || this.#sender.successes === successes || request.isOnce) failures += 1;
        successes = this.#sender.successes;
        const isLast = request.isOnce || (isTimeOut(error) && ++timeOuts === request.timeLimit?.attempts);
        await this.#sender.backOff("GET", request.url, error, failures, signal, isLast);
      }
    }
  }

  /** Undefined where nothing was sent: the credentials became stale while the request waited for permission to send. */
  async #send<T>(
    { url, kind, bodyCapBytes, timeLimit, isAgain }: ApiRequest<T>,
    authorization: Authorization,
    signal: AbortSignal | undefined,
  ): Promise<HttpResponse | undefined> {
    try {
      const permit = await this.#sender.admit(kind, signal);
      if (authorization.isCurrent) {
        const headers = { ...authorization.headers(url), ...(isAgain ? NO_CACHE : {}) };
        const timeoutMs = timeLimit?.ms();
        return await this.#sender.send(
          permit,
          { method: "GET", url, headers, bodyCapBytes, timeoutMs, readsRefusal: true },
          signal,
        );
      }
      permit.cancel();
    } catch (error) {
      void authorization.settle();
      throw error;
    }
    void authorization.settle();
    return undefined;
  }

  /** Reads any response but a refusal. Throws a `Failure` where a further attempt may help, `SyncError` where none can. */
  #readResponse<T>(request: ApiRequest<T>, response: HttpResponse, waitMs: number | undefined): T {
    const { status, headers } = response;
    if (status === 202) throw request.pending(waitMs);
    switch (statusClass(status)) {
      case "read":
        try {
          this.#sender.noteAge(response.headers);
          return readBody(request, response);
        } catch (error) {
          throw error instanceof NotJson ? unusableBody(response, error) : error;
        }
      case "retry":
        throw new BadStatus(status, waitMs);
      case "redirect":
        throw redirected(requestName("GET", request.url), request.url, response);
      default:
        if (waitMs) this.#sender.holdBack(waitMs, status, true);
        return request.refused(status, waitMs, ageMs(headers));
    }
  }
}

/** Between two questions for what was refused, at least: what stands before a service refuses for moments. */
export const AGAIN_AFTER_MS = 5_000;

const NO_CACHE = { "cache-control": "no-cache" };

/** `Age` (RFC 9111 §5.1). */
function ageMs(headers: HttpResponse["headers"]): number | undefined {
  const age = headers.get("age")?.[0]?.trim() ?? "";
  return /^\d{1,10}$/.test(age) ? Number(age) * 1_000 : undefined;
}

function isFailure(error: unknown): error is Failure {
  return error instanceof NoResponse || error instanceof UnusableBody || error instanceof BadStatus;
}

function isTimeOut(failure: Failure): boolean {
  if (failure.kind === "no-response") return failure.reason === TIMED_OUT;
  return failure.kind === "body" && failure.cutBy === TIMED_OUT;
}

function readBody<T>(request: ApiRequest<T>, response: HttpResponse): T {
  const { body } = response;
  switch (body.kind) {
    case "whole":
      return request.read(body.bytes, response);
    case "oversize":
      return request.oversize();
    case "foreign":
      throw foreignEncoding(requestName("GET", request.url), response);
    case "broken":
      throw unusableBody(response);
    case "unread":
      throw new TypeError("the transport did not read a 2xx body");
  }
}

function foreignEncoding(request: string, response: HttpResponse): SyncError {
  const { message, remedy: next } = unusableBody(response);
  return new SyncError("UNEXPECTED_RESPONSE", `${request} was answered with ${message}.`, {
    fields: { request },
    next,
  });
}

/** The URL of a path of the interface, below the base. The path is not resolved, so it cannot leave the origin. */
export function endpoint(base: URL, path: `/v1/${string}` | `/oauth/${"authorize" | "token"}`): URL {
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/$/, "") + path;
  return url;
}
