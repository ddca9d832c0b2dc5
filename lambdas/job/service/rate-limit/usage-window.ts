// Records usage in the last `windowMs`, in order, with running totals. By the monotonic clock: a wall clock that is
// set forward in the middle of a window would make used capacity look free.

import type { Clock } from "../../runtime/clock.ts";

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
    for (const piece of this.#recent.pieces) {
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
    const all = [...this.#older.pieces, ...this.#recent.pieces, ...others];
    this.#recent = this.#newRecent();
    this.#older = newOlder();
    for (const piece of all.sort((a, b) => a.latestMs - b.latestMs)) {
      // Not in sums of the window's resolution: what has left the window must not return into it.
      const isOlder = this.#recent.hasExpired(piece, monotonicNowMs);
      (isOlder ? this.#older : this.#recent).append(piece);
    }
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
    const older = this.#older.pieces.map(({ latestMs, requests, bytes }) => {
      return { atMs: Math.ceil(latestMs + sinceEpochMs), requests, bytes };
    });
    const buckets: Usage[] = [];
    for (const { latestMs, requests, bytes } of this.#recent.pieces) {
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

/** Usage in order of time, in sums of a limited number: memory is bounded whatever the number of requests. */
interface Piece {
  readonly fromMs: number;
  /** All of it counts as used at its latest instant, so never for too short. By the monotonic clock, as `fromMs`. */
  readonly latestMs: number;
  readonly requests: number;
  readonly bytes: number;
}

class UsagePieces {
  readonly #lengthMs: number;
  readonly #stepMs: number;
  readonly #pieces: Piece[] = [];
  #requests = 0;
  #bytes = 0;

  /** @param stepMs what begins within it is one piece */
  constructor(lengthMs: number, stepMs: number) {
    this.#lengthMs = lengthMs;
    this.#stepMs = stepMs;
  }

  get requests(): number {
    return this.#requests;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Oldest first. */
  get pieces(): readonly Piece[] {
    return this.#pieces;
  }

  get oldest(): Piece | undefined {
    return this.#pieces[0];
  }

  /** One more millisecond, because instants are rounded down and services count the edges of windows differently. */
  expiryMs({ latestMs }: Piece): number {
    return latestMs + this.#lengthMs + 1;
  }

  hasExpired(piece: Piece, nowMs: number): boolean {
    return nowMs >= this.expiryMs(piece);
  }

  /** It is not older than those before. */
  append({ fromMs, latestMs, requests, bytes }: Piece): void {
    this.#count(requests, bytes);
    const last = this.#pieces.at(-1);
    if (last === undefined || latestMs - last.fromMs >= this.#stepMs) {
      this.#pieces.push({ fromMs, latestMs, requests, bytes });
      return;
    }
    const sum = { requests: last.requests + requests, bytes: last.bytes + bytes };
    this.#pieces[this.#pieces.length - 1] = { fromMs: last.fromMs, latestMs, ...sum };
  }

  /** Takes out the oldest piece if it has expired. */
  takeExpired(nowMs: number): Piece | undefined {
    const { oldest } = this;
    if (oldest === undefined || !this.hasExpired(oldest, nowMs)) return undefined;
    this.#count(-oldest.requests, -oldest.bytes);
    return this.#pieces.shift();
  }

  #count(requests: number, bytes: number): void {
    this.#requests += requests;
    this.#bytes += bytes;
  }
}

/** Writes the usage where the next process finds it. A failure is no reason to stop: the record is a courtesy. */
export type RecordUsage = () => Promise<void>;

interface Amount {
  readonly requests: number;
  readonly bytes: number;
}

const NOTHING: Amount = { requests: 0, bytes: 0 };

export class UsageRecord {
  readonly #most: Amount;
  readonly #record: RecordUsage;
  readonly #onRecorded: () => void;
  /** Permitted since the last record was begun. */
  #since = NOTHING;
  /** In the record that is under way. */
  #underWay: Amount | undefined;

  constructor(most: Amount, record: RecordUsage, onRecorded: () => void) {
    this.#most = most;
    this.#record = record;
    this.#onRecorded = onRecorded;
  }

  /** Whether one more request may be sent now. If not, `onRecorded` is called when it is worth asking again. */
  permits(bytes: number): boolean {
    const requests = this.#since.requests + (this.#underWay?.requests ?? 0);
    const allBytes = this.#since.bytes + (this.#underWay?.bytes ?? 0) + bytes;
    // One request is always permitted, or one that is larger than the most would wait for ever.
    if (requests === 0 || (requests < this.#most.requests && allBytes <= this.#most.bytes)) return true;
    this.#begin();
    return false;
  }

  /** Begins the next record halfway, so that requests rarely wait for it. */
  add(requests: number, bytes: number): void {
    this.#since = { requests: this.#since.requests + requests, bytes: this.#since.bytes + bytes };
    const isHalf =
      this.#since.requests * 2 >= this.#most.requests || this.#since.bytes * 2 >= this.#most.bytes;
    if (isHalf) this.#begin();
  }

  #begin(): void {
    if (this.#underWay !== undefined) return;
    this.#underWay = this.#since;
    this.#since = NOTHING;
    const end = (): void => {
      this.#underWay = undefined;
      this.#onRecorded();
    };
    this.#record().then(end, end);
  }
}

/** When each part of the budget will have room for more requests, if nothing else is sent meanwhile. */
export interface BudgetState {
  readonly window: UsageWindow;
  readonly windowMs: number;
  /** What a window may hold. */
  readonly most: { readonly requests: number; readonly bytes: number };
  /** They count as answered now, so for them the result is an estimate. */
  readonly inFlight: { readonly requests: number; readonly bytes: number };
  /** Of the bodies to come. */
  readonly sizes: { readonly largest: number; readonly mean: number };
  /** By the monotonic clock, as the result. */
  readonly nowMs: number;
}

/** For so many requests. What a window does not hold takes further windows. */
export function freeAtMs(
  requests: number,
  state: BudgetState,
): { readonly requests: number; readonly bytes: number } {
  const { most, inFlight, sizes } = state;
  const bytes = Math.max(1, sizes.largest + (requests - 1) * sizes.mean);
  return {
    requests: amountFreeAtMs(requests, most.requests, state, (used, rest) => {
      return used.requests + inFlight.requests + rest <= most.requests;
    }),
    bytes: amountFreeAtMs(bytes, most.bytes, state, (used, rest) => {
      const isAlone = inFlight.requests === 0 && used.bytes === 0;
      return isAlone || used.bytes + inFlight.bytes + rest <= most.bytes;
    }),
  };
}

/** Whole windows, and then what is left of the amount. */
function amountFreeAtMs(
  amount: number,
  most: number,
  { window, windowMs, nowMs }: BudgetState,
  fits: (used: { readonly requests: number; readonly bytes: number }, rest: number) => boolean,
): number {
  const windows = Number.isFinite(most) ? Math.max(0, Math.ceil(amount / most) - 1) : 0;
  const rest = windows === 0 ? amount : amount - windows * most;
  // If requests in flight fill it, a window is empty a window after their responses.
  const atMs = window.fitsAtMs((used) => fits(used, rest)) ?? nowMs + windowMs + 1;
  return atMs + windows * (windowMs + 1);
}

/** How much of the budget is used, for people who wait for it. */
export interface BudgetUse {
  /** The part of the budget that is free latest. */
  readonly limit: "requests" | "bytes";
  /** Of that part, in the window that ends now: earlier runs and requests in flight included. */
  readonly used: number;
  readonly most: number;
  readonly windowMs: number;
}

/** Where `requests` more are to be sent. */
export function budgetUse(requests: number, state: BudgetState): BudgetUse {
  const { window, windowMs, most, inFlight } = state;
  const free = freeAtMs(requests, state);
  const limit = free.bytes > free.requests || !Number.isFinite(most.requests) ? "bytes" : "requests";
  return { limit, used: window[limit] + inFlight[limit], most: most[limit], windowMs };
}
