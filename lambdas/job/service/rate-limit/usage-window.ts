// Records usage in the last `windowMs`, in order, with running totals. By the monotonic clock: a wall clock that is
// set forward in the middle of a window would make used capacity look free.

import type { Clock } from "../../runtime/clock.ts";
import { type Piece, UsagePieces } from "./usage-pieces.ts";

export interface Usage {
  /** Milliseconds since the Unix epoch: the latest instant at which the service may have counted it. */
  readonly atMs: number;
  readonly requests: number;
  readonly bytes: number;
}

/**
 * How far back usage is remembered whatever the window: the longest window that can be set. So a start with a longer
 * window than the one before knows what was used.
 */
export const REMEMBERED_MS = 3_600_000;

/** The resolution of exported usage: 60 buckets a window. */
const BUCKETS = 60;

/** The resolution in memory. */
const PIECES = 1_000;

/** The resolution of what is older than the window. */
const OLDER_STEP_MS = 60_000;

export class UsageWindow {
  readonly #windowMs: number;
  readonly #clock: Clock;
  #recent: UsagePieces;
  #older: UsagePieces;

  constructor(windowMs: number, clock: Clock) {
    this.#windowMs = windowMs;
    this.#clock = clock;
    this.#recent = this.#newRecent();
    this.#older = newOlder();
  }

  get requests(): number {
    return this.#recent.requests;
  }

  get bytes(): number {
    return this.#recent.bytes;
  }

  /** When the oldest usage leaves the window, by the monotonic clock; undefined when it is empty. */
  get nextExpiryMs(): number | undefined {
    const { oldest } = this.#recent;
    return oldest && this.#recent.expiryMs(oldest);
  }

  /**
   * The first instant from now on, by the monotonic clock, at which what is left in the window satisfies `fits`, if
   * nothing is added; undefined if even an empty window does not.
   */
  fitsAtMs(fits: (left: Pick<Usage, "requests" | "bytes">) => boolean): number | undefined {
    const nowMs = this.forget();
    let { requests, bytes } = this.#recent;
    if (fits({ requests, bytes })) return nowMs;
    for (const piece of this.#recent.all()) {
      requests -= piece.requests;
      bytes -= piece.bytes;
      if (fits({ requests, bytes })) return this.#recent.expiryMs(piece);
    }
    return undefined;
  }

  add(requests: number, bytes: number): void {
    const nowMs = this.forget();
    this.#recent.append({ fromMs: nowMs, latestMs: nowMs, requests, bytes });
  }

  /** Adds what other processes used. An instant ahead of this clock counts as now. */
  merge(earlier: readonly Usage[]): void {
    const monotonicNowMs = this.forget();
    const nowMs = this.#clock.now();
    const others = earlier.map(({ atMs, requests, bytes }): Piece => {
      const atMonotonicMs = monotonicNowMs - Math.max(0, nowMs - atMs);
      return { fromMs: atMonotonicMs, latestMs: atMonotonicMs, requests, bytes };
    });
    const all = [...this.#older.all(), ...this.#recent.all(), ...others];
    this.#recent = this.#newRecent();
    this.#older = newOlder();
    for (const piece of all.sort((a, b) => a.latestMs - b.latestMs)) {
      // Not in sums of the window's resolution: what has left the window must not return into it.
      const isRecent = monotonicNowMs < this.#recent.expiryMs(piece);
      (isRecent ? this.#recent : this.#older).append(piece);
    }
    this.forget();
  }

  /** Drops what has left the window and returns the present instant by the monotonic clock. */
  forget(): number {
    const nowMs = this.#clock.monotonicMs();
    for (let piece = this.#recent.takeExpired(nowMs); piece; piece = this.#recent.takeExpired(nowMs)) {
      this.#older.append(piece);
    }
    while (this.#older.takeExpired(nowMs));
    return nowMs;
  }

  /**
   * What is remembered, in few buckets, of which about 60 are of the window. Instants are rounded up, so it is never less
   * than what was used.
   */
  buckets(): readonly Usage[] {
    const sinceEpochMs = this.#clock.now() - this.forget();
    const stepMs = Math.max(1, Math.floor(this.#windowMs / BUCKETS));
    const older = [...this.#older.all()].map(({ latestMs, requests, bytes }) => {
      return { atMs: Math.ceil(latestMs + sinceEpochMs), requests, bytes };
    });
    const buckets: Usage[] = [];
    for (const { latestMs, requests, bytes } of this.#recent.all()) {
      const atMs = Math.ceil((latestMs + sinceEpochMs) / stepMs) * stepMs;
      const last = buckets.at(-1);
      if (last?.atMs !== atMs) buckets.push({ atMs, requests, bytes });
      else {
        const sum = { atMs, requests: last.requests + requests, bytes: last.bytes + bytes };
        buckets[buckets.length - 1] = sum;
      }
    }
    return [...older, ...buckets];
  }

  #newRecent(): UsagePieces {
    return new UsagePieces(this.#windowMs, this.#windowMs / PIECES);
  }
}

function newOlder(): UsagePieces {
  return new UsagePieces(REMEMBERED_MS, OLDER_STEP_MS);
}
