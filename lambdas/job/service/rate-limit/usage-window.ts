// What was used in the last window, in order, with its total; and its record for the next process. By the monotonic clock:
// a wall clock that is set forward in the middle of a window would make used capacity look free.

import type { Clock } from "../../runtime/clock.ts";

/** A number of requests, and of the bytes of their bodies. */
export interface Amount {
  readonly requests: number;
  readonly bytes: number;
}

export interface Usage extends Amount {
  /** Milliseconds since the Unix epoch: the latest instant at which the service may have counted it. */
  readonly atMs: number;
}

/** The resolution: a thousand sums a window. */
const SUMS = 1_000;

/** What was used within one step: memory is bounded whatever the number of requests. By the monotonic clock. */
interface Sum extends Amount {
  readonly fromMs: number;
  /** All of it counts as used at its latest instant, so never for too short. */
  readonly latestMs: number;
}

const NOTHING: Amount = { requests: 0, bytes: 0 };
export const UNLIMITED: Amount = { requests: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

export class UsageWindow {
  readonly #windowMs: number;
  readonly #clock: Clock;
  /** Oldest first. */
  #sums: Sum[] = [];
  #used = NOTHING;

  /** @param earlier what other processes used. An instant ahead of this clock counts as now. */
  constructor(windowMs: number, clock: Clock, earlier: readonly Usage[]) {
    this.#windowMs = windowMs;
    this.#clock = clock;
    const nowMs = clock.now();
    const monotonicMs = clock.monotonicMs();
    for (const { atMs, ...amount } of earlier) this.#append(monotonicMs - Math.max(0, nowMs - atMs), amount);
  }

  /** In the window, as it was when it was last brought up to the present. */
  get used(): Amount {
    return this.#used;
  }

  /** When the oldest usage leaves the window, by the monotonic clock; undefined when it is empty. */
  get nextExpiryMs(): number | undefined {
    return this.#sums[0] && this.#expiryMs(this.#sums[0]);
  }

  /**
   * The first instant from now on, by the monotonic clock, at which what is left in the window satisfies `fits`, if
   * nothing is added; undefined if even an empty window does not.
   */
  fitsAtMs(fits: (left: Amount) => boolean): number | undefined {
    const nowMs = this.forget();
    let { requests, bytes } = this.#used;
    if (fits({ requests, bytes })) return nowMs;
    for (const sum of this.#sums) {
      requests -= sum.requests;
      bytes -= sum.bytes;
      if (fits({ requests, bytes })) return this.#expiryMs(sum);
    }
    return undefined;
  }

  /** @param lateMs so much later than now the service may have counted it */
  add(amount: Amount, lateMs = 0): void {
    this.#append(this.forget() + lateMs, amount);
  }

  /** Drops what has left the window and returns the present instant by the monotonic clock. */
  forget(): number {
    const nowMs = this.#clock.monotonicMs();
    const { nextExpiryMs } = this;
    if (nextExpiryMs !== undefined && nextExpiryMs <= nowMs) {
      this.#sums = this.#sums.filter((sum) => nowMs < this.#expiryMs(sum));
      this.#used = this.#sums.reduce<Amount>((total, sum) => plus(sum, total), NOTHING);
    }
    return nowMs;
  }

  /** Instants are rounded up. */
  usage(): readonly Usage[] {
    const sinceEpochMs = this.#clock.now() - this.forget();
    return this.#sums.map(({ latestMs, requests, bytes }) => {
      return { atMs: Math.ceil(latestMs + sinceEpochMs), requests, bytes };
    });
  }

  /** One more millisecond, because instants are rounded down and services count the edges of windows differently. */
  #expiryMs({ latestMs }: Sum): number {
    return latestMs + this.#windowMs + 1;
  }

  #append(latestMs: number, amount: Amount): void {
    this.#used = plus(amount, this.#used);
    const at = this.#sums.findLastIndex((sum) => sum.latestMs <= latestMs);
    const last = this.#sums[at];
    if (last && latestMs - last.fromMs < this.#windowMs / SUMS)
      this.#sums[at] = { fromMs: last.fromMs, latestMs, ...plus(amount, last) };
    else this.#sums.splice(at + 1, 0, { fromMs: latestMs, latestMs, ...amount });
  }
}

function plus(one: Amount, other = NOTHING): Amount {
  return { requests: one.requests + other.requests, bytes: one.bytes + other.bytes };
}

/** Carries the usage from one process to the next: the lease of an account. */
export interface UsageCarrier {
  /** What other processes used. */
  readonly earlier: readonly Usage[];
  /** True where the budget may be another process's by now: it is this one's again once `record` has written. */
  readonly isOverdue: boolean;
  /** Writes the usage where the next process finds it. */
  record(): Promise<void>;
  /** Sets the source of what is written. `onWritten` is called after each write that succeeded. */
  carry(usage: () => readonly Usage[], onWritten: () => void): void;
}

interface RecordOptions {
  /** So much may be permitted and not recorded. */
  readonly most: Amount;
  readonly usage: () => readonly Usage[];
  /** Called when it is worth asking again after a no. */
  readonly onRecorded: () => void;
}

/** How much was permitted since the usage was last written where the next process finds it. */
export class UsageRecord {
  readonly #carrier: UsageCarrier;
  readonly #most: Amount;
  readonly #onRecorded: () => void;
  #isAsked = false;
  /** Permitted since the last record was begun. */
  #since = NOTHING;
  /** The amount in the record that is under way. */
  #underWay: Amount | undefined;

  constructor(carrier: UsageCarrier, { most, usage, onRecorded }: RecordOptions) {
    this.#carrier = carrier;
    this.#most = most;
    this.#onRecorded = onRecorded;
    carrier.carry(usage, () => {
      this.#isAsked = false;
      onRecorded();
    });
  }

  /** A process that was stopped for a while first finds out, by writing, whether the budget is still its own. */
  isOwn(): boolean {
    if (!this.#carrier.isOverdue) return true;
    // Where the store fails, the renewals in the background try again.
    if (!this.#isAsked) void this.#carrier.record();
    this.#isAsked = true;
    return false;
  }

  /** Whether one more request may be sent now. */
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
    this.#carrier.record().then(end, end);
  }
}
