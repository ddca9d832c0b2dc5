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

/** The resolution in memory, which bounds it whatever the length of the window and the number of requests. */
const PIECES = 1_000;

/** All usage of a thousandth of the window. It counts as used at its latest instant, so never too short. */
interface Piece {
  readonly fromMs: number;
  /** By the monotonic clock, as `fromMs`. */
  readonly latestMs: number;
  readonly requests: number;
  readonly bytes: number;
}

export class UsageWindow {
  readonly #windowMs: number;
  readonly #clock: Clock;
  #pieces: Piece[] = [];
  #expired = 0; // pieces before this index have left the window
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
    const oldest = this.#pieces[this.#expired];
    return oldest === undefined ? undefined : this.#expiryMs(oldest);
  }

  /**
   * The first instant from now on, by the monotonic clock, at which what is left in the window satisfies `fits`, if
   * nothing is added; undefined if even an empty window does not.
   */
  fitsAtMs(fits: (requests: number, bytes: number) => boolean): number | undefined {
    const nowMs = this.forget();
    let requests = this.#requests;
    let bytes = this.#bytes;
    if (fits(requests, bytes)) return nowMs;
    for (let index = this.#expired; index < this.#pieces.length; index += 1) {
      const piece = this.#pieces[index];
      if (piece === undefined) break;
      requests -= piece.requests;
      bytes -= piece.bytes;
      if (fits(requests, bytes)) return this.#expiryMs(piece);
    }
    return undefined;
  }

  add(requests: number, bytes: number): void {
    const nowMs = this.forget();
    this.#append({ fromMs: nowMs, latestMs: nowMs, requests, bytes });
  }

  /** Adds what other processes used. An instant ahead of this clock counts as now. */
  merge(earlier: readonly Usage[]): void {
    const monotonicNowMs = this.forget();
    const nowMs = this.#clock.now();
    const others = earlier.map(({ atMs, requests, bytes }): Piece => {
      const atMonotonicMs = monotonicNowMs - Math.max(0, nowMs - atMs);
      return { fromMs: atMonotonicMs, latestMs: atMonotonicMs, requests, bytes };
    });
    const all = [...this.#pieces.slice(this.#expired), ...others].sort((a, b) => a.latestMs - b.latestMs);
    this.#pieces = [];
    this.#expired = 0;
    this.#requests = 0;
    this.#bytes = 0;
    for (const piece of all) this.#append(piece);
    this.forget();
  }

  /** Drops what has left the window and returns the present instant by the monotonic clock. */
  forget(): number {
    const nowMs = this.#clock.monotonicMs();
    for (
      let oldest = this.#pieces[this.#expired];
      oldest !== undefined;
      oldest = this.#pieces[this.#expired]
    ) {
      if (nowMs < this.#expiryMs(oldest)) break;
      this.#count(-oldest.requests, -oldest.bytes);
      this.#expired += 1;
    }
    if (this.#expired > PIECES) {
      this.#pieces = this.#pieces.slice(this.#expired);
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
    for (const { latestMs, requests, bytes } of this.#pieces.slice(this.#expired)) {
      const ageMs = monotonicNowMs - latestMs;
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

  #append({ fromMs, latestMs, requests, bytes }: Piece): void {
    this.#count(requests, bytes);
    const end = this.#pieces.length - 1;
    const last = end < this.#expired ? undefined : this.#pieces[end];
    if (last === undefined || latestMs - last.fromMs >= this.#windowMs / PIECES) {
      this.#pieces.push({ fromMs, latestMs, requests, bytes });
      return;
    }
    this.#pieces[end] = {
      fromMs: last.fromMs,
      latestMs,
      requests: last.requests + requests,
      bytes: last.bytes + bytes,
    };
  }

  /** One more millisecond, because instants are rounded down and services count the edges of windows differently. */
  #expiryMs({ latestMs }: Piece): number {
    return latestMs + this.#windowMs + 1;
  }

  #count(requests: number, bytes: number): void {
    this.#requests += requests;
    this.#bytes += bytes;
  }
}
