// Permits requests no faster than the service allows: limits per minute, averaged over a sliding window.

import type { Clock } from "../../runtime/clock.ts";
import { type Limit, shortestWindowMs, windowAllowance } from "../../settings/limit.ts";
import {
  type BudgetState,
  type BudgetUse,
  budgetUse,
  freeAtMs,
  type RecordUsage,
  type Usage,
  UsageRecord,
  UsageWindow,
} from "./usage-window.ts";

/** What was used in the last hour, the longest window. It is passed from run to run, so that the next run stays within the limit too. */
export type RateLimiterUsage = readonly Usage[];

/** How much of the budget may be missing in what was recorded before a crash: a minute's. */
export const UNRECORDED_MS = 60_000;

export interface RateLimiterOptions {
  readonly requestsPerMinute: Limit;
  /** Body bytes after decoding: some services count so, and on the others it is the safe side. */
  readonly bytesPerMinute: Limit;
  /** The limits hold on average over any time of this length, so in a longer one more may go at once. */
  readonly windowMs: number;
  /** The part of both limits that is used. The rest is a reserve for bodies that are larger than expected. */
  readonly share?: number;
  readonly clock: Clock;
  readonly earlier?: RateLimiterUsage;
}

/**
 * A request counts from its permit until one window after its *response*. The service counts it at some point in
 * between, so no window of the service holds more than the limit, whatever the latency. First come, first served.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #requests: number;
  readonly #bytes: number;
  /** What the limits are averaged over. */
  readonly windowMs: number;
  readonly #unrecorded: { readonly requests: number; readonly bytes: number };
  readonly #window: UsageWindow;
  readonly #queue: PermitQueue;
  readonly #details = new RecentSizes();
  #record: UsageRecord | undefined;
  #mayPermit: () => boolean = () => true;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  #detailsInFlight = 0;

  constructor({ requestsPerMinute, bytesPerMinute, share, clock, ...options }: RateLimiterOptions) {
    this.#clock = clock;
    const windowMs = Math.max(options.windowMs, shortestWindowMs(requestsPerMinute));
    this.windowMs = windowMs;
    this.#requests = windowAllowance(requestsPerMinute, windowMs, share);
    this.#bytes = windowAllowance(bytesPerMinute, windowMs, share);
    this.#window = new UsageWindow(windowMs, clock);
    this.#queue = new PermitQueue({
      clock,
      permit: (kind) => this.#permitIfFree(kind),
      nextMs: () => this.#window.nextExpiryMs,
    });
    this.#unrecorded = {
      requests: windowAllowance(requestsPerMinute, UNRECORDED_MS, share),
      bytes: windowAllowance(bytesPerMinute, UNRECORDED_MS, share),
    };
    if (options.earlier !== undefined) this.add(options.earlier);
  }

  /**
   * In how many milliseconds so many more details may have been requested, if nothing else is: 0 if all may be now. What
   * a window does not hold takes further windows. Sizes are those of recent bodies; requests in flight count as answered
   * now, so it is an estimate for them.
   */
  waitMs(requests: number): number {
    return Math.max(0, this.freeAtMs(requests) - this.#clock.monotonicMs());
  }

  /** The same as an instant of the monotonic clock. */
  freeAtMs(requests: number): number {
    const free = freeAtMs(requests, this.#state());
    return Math.max(free.requests, free.bytes, this.#pausedUntilMs);
  }

  /** What holds so many more details back most. */
  use(requests = 1): BudgetUse {
    return budgetUse(requests, this.#state());
  }

  /** The service asked to wait until then, by the monotonic clock. It counts in what `waitMs` says. */
  pauseUntil(untilMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
  }

  /** How many requests wait for a permit. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** How many details of the recent sizes an empty window gives; `Infinity` without a limit. */
  get detailsPerWindow(): number {
    const { largest, mean } = this.#details;
    const bySize = mean === 0 ? Number.POSITIVE_INFINITY : 1 + Math.floor((this.#bytes - largest) / mean);
    return Math.max(1, Math.min(this.#requests, bySize));
  }

  /** A permit, if one is free and no other request waits for it. */
  tryAcquire(kind: RequestKind): Permit | undefined {
    return this.#queue.length === 0 ? this.#permitIfFree(kind) : undefined;
  }

  /** Waits for a permit; rejects with the signal's reason. */
  acquire(kind: RequestKind, signal?: AbortSignal): Promise<Permit> {
    return this.#queue.wait(kind, signal);
  }

  /**
   * From now on `record` writes the usage so often that never more than a minute's budget is missing in it. Within a
   * window of a minute that is always so.
   */
  recordWith(record: RecordUsage): void {
    if (this.windowMs <= UNRECORDED_MS) return;
    this.#record = new UsageRecord(this.#unrecorded, record, () => this.#queue.serve());
  }

  /** From now on permits depend on it as well. Returns what asks again after a no. */
  permitWhile(mayPermit: () => boolean): () => void {
    this.#mayPermit = mayPermit;
    return () => this.#queue.serve();
  }

  /** The usage of the last hour, requests in flight included, in about 120 buckets at most. */
  usage(): RateLimiterUsage {
    const buckets = this.#window.buckets();
    if (this.#inFlight === 0) return buckets;
    const bytes = this.#details.largest * this.#detailsInFlight;
    return [...buckets, { atMs: this.#clock.now(), requests: this.#inFlight, bytes }];
  }

  /** Counts what other processes used. */
  add(earlier: RateLimiterUsage): void {
    this.#window.merge(earlier);
  }

  #state(): BudgetState {
    const { largest, mean } = this.#details;
    return {
      window: this.#window,
      windowMs: this.windowMs,
      most: { requests: this.#requests, bytes: this.#bytes },
      inFlight: { requests: this.#inFlight, bytes: largest * this.#detailsInFlight },
      sizes: { largest, mean },
      nowMs: this.#clock.monotonicMs(),
    };
  }

  #isPermitted(kind: RequestKind): boolean {
    if (Math.min(this.#requests, this.#bytes) === Number.POSITIVE_INFINITY) return true;
    if (!this.#mayPermit()) return false;
    this.#window.forget();
    if (this.#window.requests + this.#inFlight >= this.#requests) return false;
    if (this.#bytes !== Number.POSITIVE_INFINITY && !this.#bytesPermit(kind)) return false;
    return this.#record === undefined || this.#record.permits(this.#expectedBytes(kind));
  }

  #bytesPermit(kind: RequestKind): boolean {
    // With nothing in flight and an empty window one request is always permitted, or a large event would wait for ever.
    if (this.#inFlight === 0 && this.#window.bytes === 0) return true;
    if (kind === "detail" && this.#details.largest === 0 && this.#detailsInFlight > 0) return false;
    const reserve = this.#details.largest;
    const next = Math.max(1, kind === "detail" ? reserve : 0);
    return this.#window.bytes + reserve * this.#detailsInFlight + next <= this.#bytes;
  }

  #permitIfFree(kind: RequestKind): Permit | undefined {
    return this.#isPermitted(kind) ? this.#permit(kind) : undefined;
  }

  #permit(kind: RequestKind): Permit {
    const details = kind === "detail" ? 1 : 0;
    let open = true;
    const expectedBytes = this.#expectedBytes(kind);
    const end = (sentBytes: number | undefined): void => {
      if (!open) return;
      open = false;
      this.#record?.add(0, Math.max(0, (sentBytes ?? 0) - expectedBytes));
      this.#inFlight -= 1;
      this.#detailsInFlight -= details;
      if (sentBytes !== undefined) this.#count(kind, sentBytes);
      this.#queue.serve();
    };
    this.#inFlight += 1;
    this.#detailsInFlight += details;
    this.#record?.add(1, expectedBytes);
    return { expectedBytes, settle: (bytes) => end(bytes), cancel: () => end(undefined) };
  }

  #expectedBytes(kind: RequestKind): number {
    return kind === "detail" ? this.#details.largest : 0;
  }

  #count(kind: RequestKind, bytes: number): void {
    this.#window.add(1, bytes); // also without a limit: the next run may have one
    if (kind === "detail" && bytes > 0) this.#details.add(bytes);
  }
}

/** The requests that wait for a permit, first come, first served. */
interface PermitQueueOptions {
  readonly clock: Clock;
  /** Undefined while there is none for a request of this kind. */
  readonly permit: (kind: RequestKind) => Permit | undefined;
  /** When it is worth asking again, by the monotonic clock; undefined where only the end of a request can tell. */
  readonly nextMs: () => number | undefined;
}

/** A request that waits for its permit. */
interface Waiter {
  readonly kind: RequestKind;
  readonly grant: (permit: Permit) => void;
}

class PermitQueue {
  readonly #options: PermitQueueOptions;
  readonly #waiters: Waiter[] = [];
  #alarm: AbortController | undefined;

  constructor(options: PermitQueueOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#waiters.length;
  }

  /** Rejects with the signal's reason. */
  wait(kind: RequestKind, signal?: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal?.reason);
        this.serve();
      };
      const waiter: Waiter = {
        kind,
        grant: (permit) => {
          signal?.removeEventListener("abort", leave);
          resolve(permit);
        },
      };
      signal?.addEventListener("abort", leave);
      this.#waiters.push(waiter);
      this.serve();
    });
  }

  /** Gives the requests at the front what is there now. */
  serve(): void {
    for (let next = this.#waiters[0]; next !== undefined; next = this.#waiters[0]) {
      const permit = this.#options.permit(next.kind);
      if (permit === undefined) {
        this.#wakeLater();
        return;
      }
      this.#waiters.shift();
      next.grant(permit);
    }
    this.#alarm?.abort();
    this.#alarm = undefined;
  }

  // One alarm for all. If the window is empty, a request is in flight, and its end serves the next.
  #wakeLater(): void {
    const { clock, nextMs } = this.#options;
    const atMs = nextMs();
    if (atMs === undefined || this.#alarm !== undefined) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    clock.sleep(Math.max(1, atMs - clock.monotonicMs()), alarm.signal).then(
      () => {
        this.#alarm = undefined;
        this.serve();
      },
      () => undefined, // aborted: no request waits any more
    );
  }
}

/** How a request's bytes are estimated: a detail as the largest recent one; for others nothing is known. */
export type RequestKind = "detail" | "other";

/** Permission to send one request. Ends with the first call of either method. */
export interface Permit {
  /** How large the body is expected to be at most; 0 if nothing is known. */
  readonly expectedBytes: number;
  /** The request was sent. `bytes`: the size of the decoded response body, 0 if none came. */
  settle(bytes: number): void;
  /** The request was not sent. */
  cancel(): void;
}

/** Remembers the sizes of the last bodies, to estimate the next ones. */
const REMEMBERED = 100;

class RecentSizes {
  readonly #sizes: number[] = [];

  /** Of the last 100 bodies; 0 before the first. */
  get largest(): number {
    return Math.max(0, ...this.#sizes);
  }

  /** Of the last 100 bodies; 0 before the first. */
  get mean(): number {
    return this.#sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, this.#sizes.length);
  }

  add(bytes: number): void {
    this.#sizes.push(bytes);
    if (this.#sizes.length > REMEMBERED) this.#sizes.shift();
  }
}
