// The limits of the service as it counts them: requests and decoded bytes in each window of a minute.

import type { Limit } from "../../../lambdas/job/settings/values.ts";

interface Use {
  readonly atMs: number;
  readonly requests: number;
  readonly bytes: number;
}

export interface Refusal {
  readonly retryAfterSeconds: number;
  readonly isOverRequests: boolean;
}

const WINDOW_MS = 60_000;

export class ServiceLimits {
  readonly #requests: number;
  readonly #bytes: number;
  #uses: Use[] = [];

  constructor(requestsPerMinute: Limit, bytesPerMinute: Limit) {
    this.#requests = requestsPerMinute === "unlimited" ? Number.POSITIVE_INFINITY : requestsPerMinute;
    this.#bytes = bytesPerMinute === "unlimited" ? Number.POSITIVE_INFINITY : bytesPerMinute;
  }

  count(atMs: number, requests: number, bytes: number): void {
    this.#uses.push({ atMs, requests, bytes });
  }

  /** What a request that comes now is told; undefined: it is let in. */
  refusal(nowMs: number): Refusal | undefined {
    this.#uses = this.#uses.filter(({ atMs }) => atMs > nowMs - WINDOW_MS);
    let requests = 0;
    let bytes = 0;
    for (const use of this.#uses) {
      requests += use.requests;
      bytes += use.bytes;
    }
    const isOverRequests = requests >= this.#requests;
    if (!isOverRequests && bytes < this.#bytes) return undefined;
    const oldestMs = this.#uses[0]?.atMs ?? nowMs;
    const retryAfterSeconds = Math.max(1, Math.ceil((oldestMs + WINDOW_MS - nowMs) / 1_000));
    return { retryAfterSeconds, isOverRequests };
  }
}
