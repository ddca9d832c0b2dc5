// The rate limit of the simulated service: a sliding window of any length, and the Retry-After of its refusals.

import { refusal, type SimulatedResponse } from "./simulated-response.ts";

export interface Limits {
  readonly requestsPerWindow?: number;
  /** A request is refused when so many bytes of bodies, before compressing, were sent in the window, or more. */
  readonly bytesPerWindow?: number;
  /** Default: one minute. */
  readonly windowMs?: number;
  /** How the 429 says when to come back; default `seconds`. */
  readonly retryAfter?: RetryAfter;
  /** Default: 429. */
  readonly status?: number;
}

/** The first four are forms of `Retry-After`. The headers of limits name seconds, `x-ratelimit-reset` a Unix time. */
export const RETRY_AFTER = [
  "seconds",
  "http-date",
  "unix",
  "unix-ms",
  "ratelimit",
  "ratelimit-reset",
  "x-ratelimit-reset",
  "none",
] as const;

type RetryAfter = (typeof RETRY_AFTER)[number];

export const WINDOW_MS = 60_000;

/** Limits per minute that hold on average over a window. */
export const averaged = (
  windowMs: number,
  perMinute: { readonly requests?: number; readonly bytes?: number },
  retryAfter: RetryAfter = "seconds",
): Limits => {
  const inWindow = (limit: number): number => Math.max(1, Math.floor((limit * windowMs) / 60_000));
  const { requests, bytes } = perMinute;
  return {
    windowMs,
    retryAfter,
    ...(requests === undefined ? {} : { requestsPerWindow: inWindow(requests) }),
    ...(bytes === undefined ? {} : { bytesPerWindow: inWindow(bytes) }),
  };
};

/** Only requests that were let in use up the limits, so what a refusal says stays true after further refusals. */
export class Limiter {
  readonly #requests = new SlidingSum();
  readonly #bytes = new SlidingSum();

  /** The refusal of a request that arrives now; undefined: it is let in, and counted. */
  refuse(nowMs: number, limits: Limits): SimulatedResponse | undefined {
    const { requestsPerWindow = Infinity, bytesPerWindow = Infinity, windowMs = WINDOW_MS } = limits;
    const { status = 429 } = limits;
    const freeAtMs = Math.max(
      this.#requests.below(requestsPerWindow, nowMs, windowMs),
      this.#bytes.below(bytesPerWindow, nowMs, windowMs),
    );
    if (freeAtMs > nowMs) return refusal(status, "Too many requests.", retryAfter(freeAtMs, nowMs, limits));
    this.#requests.add(nowMs, 1);
    return undefined;
  }

  /** Whether a request that arrives now would be one too many, whatever the bytes. */
  isOverRequests(nowMs: number, { requestsPerWindow = Infinity, windowMs = WINDOW_MS }: Limits): boolean {
    return this.#requests.at(nowMs, windowMs) >= requestsPerWindow;
  }

  /** Counts the bytes of a response body before compressing. */
  charge(nowMs: number, bytes: number): void {
    this.#bytes.add(nowMs, bytes);
  }
}

/** Most forms count whole seconds (RFC 9110 §10.2.3), so they are rounded up: never too early. */
const retryAfter = (freeAtMs: number, nowMs: number, limits: Limits): SimulatedResponse["headers"] => {
  const seconds = String(Math.ceil((freeAtMs - nowMs) / 1_000));
  const unix = Math.ceil(freeAtMs / 1_000);
  switch (limits.retryAfter ?? "seconds") {
    case "seconds":
      return { "retry-after": seconds };
    case "http-date":
      return { "retry-after": new Date(unix * 1_000).toUTCString() };
    case "unix":
      return { "retry-after": String(unix) };
    case "unix-ms":
      return { "retry-after": String(Math.ceil(freeAtMs)) };
    case "ratelimit":
      return { ratelimit: `"default";r=0;t=${seconds}` };
    case "ratelimit-reset":
      return { "ratelimit-reset": seconds };
    case "x-ratelimit-reset":
      return { "x-ratelimit-reset": String(unix) };
    case "none":
      return {};
  }
};

interface Use {
  readonly atMs: number;
  readonly amount: number;
}

/** Instants must not go backwards. */
export class SlidingSum {
  #uses: Use[] = [];
  /** Uses before this index have left the window. */
  #first = 0;
  #sum = 0;

  add(atMs: number, amount: number): void {
    this.#uses.push({ atMs, amount });
    this.#sum += amount;
  }

  at(nowMs: number, windowMs: number): number {
    for (let use = this.#uses[this.#first]; use !== undefined; use = this.#uses[this.#first]) {
      if (use.atMs > nowMs - windowMs) break;
      this.#sum -= use.amount;
      this.#first += 1;
    }
    if (this.#first > 1_000 && this.#first > this.#uses.length / 2) {
      this.#uses = this.#uses.slice(this.#first);
      this.#first = 0;
    }
    return this.#sum;
  }

  /** The first instant from `nowMs` on at which the sum is below `limit`, if nothing is added. */
  below(limit: number, nowMs: number, windowMs: number): number {
    let left = this.at(nowMs, windowMs);
    let instantMs = nowMs;
    for (let index = this.#first; left >= limit; index += 1) {
      const use = this.#uses[index];
      if (use === undefined) throw new Error(`a limit of ${limit} lets nothing in, ever`);
      left -= use.amount;
      instantMs = use.atMs + windowMs;
    }
    return instantMs;
  }
}
