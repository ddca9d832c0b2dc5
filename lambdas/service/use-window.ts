// Remembers what was used in the last `windowMs`, in order, with running totals.

import type { Clock } from "../host/clock.ts";

export interface Use {
  /** Milliseconds since the Unix epoch: the latest instant at which the service may have counted it. */
  readonly atMs: number;
  readonly requests: number;
  readonly bytes: number;
}

/** How finely use is told to others: 60 buckets a window. */
const BUCKETS = 60;

export class UseWindow {
  readonly #windowMs: number;
  readonly #clock: Clock;
  #uses: Use[] = [];
  #expired = 0; // uses before this index have left the window
  #seenMs: number;
  #requests = 0;
  #bytes = 0;

  constructor(windowMs: number, clock: Clock) {
    this.#windowMs = windowMs;
    this.#clock = clock;
    this.#seenMs = clock.now();
  }

  get requests(): number {
    return this.#requests;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** When the oldest use leaves the window; undefined when it is empty. */
  get nextExpiryMs(): number | undefined {
    const oldest = this.#uses[this.#expired];
    return oldest === undefined ? undefined : oldest.atMs + this.#windowMs + 1;
  }

  add(requests: number, bytes: number): void {
    const atMs = this.forget();
    this.#count(requests, bytes);
    this.#uses.push({ atMs, requests, bytes });
  }

  /** Takes over what others used. An instant ahead of this clock counts as now. */
  merge(earlier: readonly Use[]): void {
    const nowMs = this.forget();
    const uses = earlier.map((use) => ({ ...use, atMs: Math.min(use.atMs, nowMs) }));
    for (const use of uses) this.#count(use.requests, use.bytes);
    this.#uses = [...this.#uses.slice(this.#expired), ...uses].sort((a, b) => a.atMs - b.atMs);
    this.#expired = 0;
    this.forget();
  }

  /** Drops what has left the window and returns the present instant. */
  forget(): number {
    const nowMs = this.#clock.now();
    // A clock that is set back would keep old uses for longer than a window: they count as made just now.
    if (nowMs < this.#seenMs)
      this.#uses = this.#uses.map((use) => ({ ...use, atMs: Math.min(use.atMs, nowMs) }));
    this.#seenMs = nowMs;
    for (let oldest = this.#uses[this.#expired]; oldest !== undefined; oldest = this.#uses[this.#expired]) {
      // One more millisecond, because instants are rounded down and services count their edges differently.
      if (nowMs <= oldest.atMs + this.#windowMs) break;
      this.#count(-oldest.requests, -oldest.bytes);
      this.#expired += 1;
    }
    if (this.#expired > 1_000 && this.#expired * 2 > this.#uses.length) {
      this.#uses = this.#uses.slice(this.#expired);
      this.#expired = 0;
    }
    return nowMs;
  }

  /** The window's use in few buckets; instants are rounded up, so it never tells less than was used. */
  buckets(): readonly Use[] {
    this.forget();
    const stepMs = Math.max(1, Math.floor(this.#windowMs / BUCKETS));
    const buckets: Use[] = [];
    for (const use of this.#uses.slice(this.#expired)) {
      const atMs = Math.ceil(use.atMs / stepMs) * stepMs;
      const last = buckets.at(-1);
      if (last?.atMs !== atMs) buckets.push({ ...use, atMs });
      else
        buckets[buckets.length - 1] = {
          atMs,
          requests: last.requests + use.requests,
          bytes: last.bytes + use.bytes,
        };
    }
    return buckets;
  }

  #count(requests: number, bytes: number): void {
    this.#requests += requests;
    this.#bytes += bytes;
  }
}
