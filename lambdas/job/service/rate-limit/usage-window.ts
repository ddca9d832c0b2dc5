// What was used in the last window, in order, with a running total; and its record for the next process. By the monotonic
// clock: a wall clock that is set forward in the middle of a window would make used capacity look free.

import type { Clock } from "../../runtime/clock.ts";

/** Of requests, and of the bytes of their bodies. */
export interface Amount {
  readonly requests: number;
  readonly bytes: number;
}

export interface Usage extends Amount {
  /** Milliseconds since the Unix epoch: the latest instant at which the service may have counted it. */
  readonly atMs: number;
}

/**
 * How far back usage is remembered whatever the window: the longest window that can be set. So a start with a longer
 * window than the one before knows what was used.
 */
export const REMEMBERED_MS = 3_600_000;

/** The resolution of exported usage: 60 buckets a window. */
const BUCKETS = 60;

/** The resolution in memory: a thousand sums a window. */
const SUMS = 1_000;

/** The resolution of what is older than the window. */
const OLDER_STEP_MS = 60_000;

/** What was used within one step: memory is bounded whatever the number of requests. By the monotonic clock. */
interface Sum extends Amount {
  readonly fromMs: number;
  /** All of it counts as used at its latest instant, so never for too short. */
  readonly latestMs: number;
}

const NOTHING: Amount = { requests: 0, bytes: 0 };

export class UsageWindow {
  readonly #windowMs: number;
  readonly #clock: Clock;
  /** Oldest first. */
  #sums: Sum[] = [];
  /** So many of them have left the window. */
  #older = 0;
  #used = NOTHING;

  constructor(windowMs: number, clock: Clock) {
    this.#windowMs = windowMs;
    this.#clock = clock;
  }

  /** In the window, as it was when it was last brought up to the present. */
  get used(): Amount {
    return this.#used;
  }

  /** When the oldest usage leaves the window, by the monotonic clock; undefined when it is empty. */
  get nextExpiryMs(): number | undefined {
    const oldest = this.#sums[this.#older];
    return oldest && expiryMs(oldest, this.#windowMs);
  }

  /**
   * The first instant from now on, by the monotonic clock, at which what is left in the window satisfies `fits`, if
   * nothing is added; undefined if even an empty window does not.
   */
  fitsAtMs(fits: (left: Amount) => boolean): number | undefined {
    const nowMs = this.forget();
    let { requests, bytes } = this.#used;
    if (fits({ requests, bytes })) return nowMs;
    for (const sum of this.#sums.slice(this.#older)) {
      requests -= sum.requests;
      bytes -= sum.bytes;
      if (fits({ requests, bytes })) return expiryMs(sum, this.#windowMs);
    }
    return undefined;
  }

  add(requests: number, bytes: number): void {
    const nowMs = this.forget();
    this.#append({ fromMs: nowMs, latestMs: nowMs, requests, bytes }, false);
  }

  /** Adds what other processes used. An instant ahead of this clock counts as now. */
  merge(earlier: readonly Usage[]): void {
    const monotonicNowMs = this.#clock.monotonicMs();
    const nowMs = this.#clock.now();
    const others = earlier.map(({ atMs, requests, bytes }): Sum => {
      const atMonotonicMs = monotonicNowMs - Math.max(0, nowMs - atMs);
      return { fromMs: atMonotonicMs, latestMs: atMonotonicMs, requests, bytes };
    });
    this.#arrange([...this.#sums, ...others], monotonicNowMs);
  }

  /** Drops what has left the window and returns the present instant by the monotonic clock. */
  forget(): number {
    const nowMs = this.#clock.monotonicMs();
    const { nextExpiryMs } = this;
    if (nextExpiryMs !== undefined && nextExpiryMs <= nowMs) this.#arrange(this.#sums, nowMs);
    return nowMs;
  }

  /**
   * What is remembered, in few buckets, of which about 60 are of the window. Instants are rounded up, so it is never less
   * than what was used.
   */
  buckets(): readonly Usage[] {
    const nowMs = this.#clock.monotonicMs();
    this.#arrange(this.#sums, nowMs);
    const sinceEpochMs = this.#clock.now() - nowMs;
    const stepMs = Math.max(1, Math.floor(this.#windowMs / BUCKETS));
    const buckets: Usage[] = [];
    for (const [index, { latestMs, ...amount }] of this.#sums.entries()) {
      const unitMs = index < this.#older ? 1 : stepMs;
      const atMs = Math.ceil((latestMs + sinceEpochMs) / unitMs) * unitMs;
      const last = buckets.at(-1)?.atMs === atMs ? buckets.pop() : undefined;
      buckets.push({ atMs, ...plus(amount, last) });
    }
    return buckets;
  }

  /** Puts sums in order of time, and those that have left the window apart; what is too old is forgotten. */
  #arrange(sums: readonly Sum[], nowMs: number): void {
    this.#sums = [];
    this.#older = 0;
    this.#used = NOTHING;
    for (const sum of sums.toSorted((a, b) => a.latestMs - b.latestMs)) {
      if (nowMs < expiryMs(sum, REMEMBERED_MS)) this.#append(sum, nowMs >= expiryMs(sum, this.#windowMs));
    }
  }

  /** It is not older than those before. What has left the window is not summed with what is in it: it would return. */
  #append(next: Sum, isOlder: boolean): void {
    const stepMs = isOlder ? OLDER_STEP_MS : this.#windowMs / SUMS;
    const last = isOlder || this.#sums.length > this.#older ? this.#sums.at(-1) : undefined;
    if (last === undefined || next.latestMs - last.fromMs >= stepMs) this.#sums.push(next);
    else this.#sums[this.#sums.length - 1] = { ...next, fromMs: last.fromMs, ...plus(next, last) };
    if (isOlder) this.#older = this.#sums.length;
    else this.#used = plus(this.#used, next);
  }
}

/** One more millisecond, because instants are rounded down and services count the edges of windows differently. */
function expiryMs({ latestMs }: Sum, lengthMs: number): number {
  return latestMs + lengthMs + 1;
}

function plus(one: Amount, other = NOTHING): Amount {
  return { requests: one.requests + other.requests, bytes: one.bytes + other.bytes };
}

/** How much was permitted since the usage was last written where the next process finds it. */
export class UsageRecord {
  readonly #most: Amount;
  readonly #record: () => Promise<void>;
  readonly #onRecorded: () => void;
  /** Permitted since the last record was begun. */
  #since = NOTHING;
  /** In the record that is under way. */
  #underWay: Amount | undefined;

  constructor(most: Amount, record: () => Promise<void>, onRecorded: () => void) {
    this.#most = most;
    this.#record = record;
    this.#onRecorded = onRecorded;
  }

  /** Whether one more request may be sent now. If not, `onRecorded` is called when it is worth asking again. */
  permits(expectedBytes: number): boolean {
    const { requests, bytes } = plus(this.#since, this.#underWay);
    const isWithin = requests < this.#most.requests && bytes + expectedBytes <= this.#most.bytes;
    // One request is always permitted, or one that is larger than the most would wait for ever.
    if (requests === 0 || isWithin) return true;
    this.#begin();
    return false;
  }

  /** Begins the next record halfway, so that requests rarely wait for it. */
  add(amount: Amount): void {
    this.#since = plus(this.#since, amount);
    const { requests, bytes } = this.#since;
    if (requests * 2 >= this.#most.requests || bytes * 2 >= this.#most.bytes) this.#begin();
  }

  #begin(): void {
    if (this.#underWay !== undefined) return;
    this.#underWay = this.#since;
    this.#since = NOTHING;
    const end = (): void => {
      this.#underWay = undefined;
      this.#onRecorded();
    };
    // A failure is no reason to stop: the record is a courtesy.
    this.#record().then(end, end);
  }
}
