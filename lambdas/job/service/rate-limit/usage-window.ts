// Records usage in the last `windowMs`, in order, with running totals. By the monotonic clock: a wall clock that is
// set forward in the middle of a window would make used capacity look free.

import type { Clock } from "../../runtime/clock.ts";

export interface Usage {
  /** Milliseconds since the Unix epoch: the latest instant at which the service may have counted it. */
  readonly atMs: number;
  readonly requests: number;
  readonly bytes: number;
}

/** The resolution of exported usage: 60 buckets a window. */
const BUCKETS = 60;

interface MonotonicUsage {
  readonly monotonicMs: number;
  readonly requests: number;
  readonly bytes: number;
}

export class UsageWindow {
  readonly #windowMs: number;
  readonly #clock: Clock;
  #uses: MonotonicUsage[] = [];
  #expired = 0; // entries before this index have left the window
  #requests = 0;
  #bytes = 0;

  constructor(windowMs: number, clock: Clock) {
    this.#windowMs = windowMs;
    this.#clock = clock;
  }

  get requests(): number {
    return this.#requests;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** When the oldest usage leaves the window, by the monotonic clock; undefined when it is empty. */
  get nextExpiryMs(): number | undefined {
    const oldest = this.#uses[this.#expired];
    return oldest === undefined ? undefined : oldest.monotonicMs + this.#windowMs + 1;
  }

  add(requests: number, bytes: number): void {
    const monotonicMs = this.forget();
    this.#count(requests, bytes);
    this.#uses.push({ monotonicMs, requests, bytes });
  }

  /** Adds what other processes used. An instant ahead of this clock counts as now. */
  merge(earlier: readonly Usage[]): void {
    const monotonicNowMs = this.forget();
    const nowMs = this.#clock.now();
    const uses = earlier.map(({ atMs, requests, bytes }) => {
      const ageMs = Math.max(0, nowMs - atMs);
      return { monotonicMs: monotonicNowMs - ageMs, requests, bytes };
    });
    for (const use of uses) this.#count(use.requests, use.bytes);
    this.#uses = [...this.#uses.slice(this.#expired), ...uses].sort((a, b) => a.monotonicMs - b.monotonicMs);
    this.#expired = 0;
    this.forget();
  }

  /** Drops what has left the window and returns the present instant by the monotonic clock. */
  forget(): number {
    const nowMs = this.#clock.monotonicMs();
    for (let oldest = this.#uses[this.#expired]; oldest !== undefined; oldest = this.#uses[this.#expired]) {
      // One more millisecond, because instants are rounded down and services count the edges of windows differently.
      if (nowMs <= oldest.monotonicMs + this.#windowMs) break;
      this.#count(-oldest.requests, -oldest.bytes);
      this.#expired += 1;
    }
    if (this.#expired > 1_000 && this.#expired * 2 > this.#uses.length) {
      this.#uses = this.#uses.slice(this.#expired);
      this.#expired = 0;
    }
    return nowMs;
  }

  /** The usage of the window in few buckets. Instants are rounded up, so it is never less than what was used. */
  buckets(): readonly Usage[] {
    const monotonicNowMs = this.forget();
    const nowMs = this.#clock.now();
    const stepMs = Math.max(1, Math.floor(this.#windowMs / BUCKETS));
    const buckets: Usage[] = [];
    for (const { monotonicMs, requests, bytes } of this.#uses.slice(this.#expired)) {
      const ageMs = monotonicNowMs - monotonicMs;
      const atMs = Math.ceil((nowMs - ageMs) / stepMs) * stepMs;
      const last = buckets.at(-1);
      if (last?.atMs !== atMs) buckets.push({ atMs, requests, bytes });
      else {
        const sum = { atMs, requests: last.requests + requests, bytes: last.bytes + bytes };
        buckets[buckets.length - 1] = sum;
      }
    }
    return buckets;
  }

  #count(requests: number, bytes: number): void {
    this.#requests += requests;
    this.#bytes += bytes;
  }
}
