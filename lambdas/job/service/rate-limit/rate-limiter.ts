// Permits requests no faster than the service allows: one sliding window of requests and one of bytes.

import type { Clock } from "../../runtime/clock.ts";
import { allowance, type Limit } from "../../settings/limit.ts";
import { RecentSizes } from "./recent-sizes.ts";
import { type Usage, UsageWindow } from "./usage-window.ts";

/** What was used in the last window. It is passed from run to run, so that the next run stays within the limit too. */
export type RateLimiterUsage = readonly Usage[];

export interface RateLimiterOptions {
  readonly requestsPerWindow: Limit;
  /** Body bytes as received, before decoding. */
  readonly bytesPerWindow: Limit;
  readonly windowMs?: number;
  /** The part of both limits that is used. The rest is a reserve for bodies that are larger than expected. */
  readonly share?: number;
  readonly clock: Clock;
  readonly earlier?: RateLimiterUsage;
}

/** How a request's bytes are estimated: a detail as the largest recent one; for others nothing is known. */
export type RequestKind = "detail" | "other";

/** Permission to send one request. Ends with the first call of either method. */
export interface Permit {
  /** The request was sent. `bytes`: the size of the response body, 0 if none came. */
  settle(bytes: number): void;
  /** The request was not sent. */
  cancel(): void;
}

interface Waiter {
  readonly kind: RequestKind;
  readonly grant: (permit: Permit) => void;
}

/**
 * A request counts from its permit until one window after its *response*. The service counts it at some point in
 * between, so no window of the service holds more than the limit, whatever the latency. First come, first served.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #requests: number;
  readonly #bytes: number;
  readonly #window: UsageWindow;
  readonly #waiters: Waiter[] = [];
  readonly #details = new RecentSizes();
  #inFlight = 0;
  #detailsInFlight = 0;
  #alarm: AbortController | undefined;

  constructor({ windowMs = 60_000, share, ...options }: RateLimiterOptions) {
    this.#clock = options.clock;
    this.#requests = allowance(options.requestsPerWindow, share);
    this.#bytes = allowance(options.bytesPerWindow, share);
    this.#window = new UsageWindow(windowMs, options.clock);
    if (options.earlier !== undefined) this.add(options.earlier);
  }

  /** When the oldest usage expires and so permits the next request; by the monotonic clock. */
  get nextMs(): number {
    return this.#window.nextExpiryMs ?? this.#clock.monotonicMs();
  }

  /** A permit, if one is free and no other request waits for it. */
  tryAcquire(kind: RequestKind): Permit | undefined {
    return this.#waiters.length === 0 && this.#isPermitted(kind) ? this.#permit(kind) : undefined;
  }

  /** WaitReporter for a permit; rejects with the signal's reason. */
  acquire(kind: RequestKind, signal?: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal?.reason);
        this.#serve();
      };
      const waiter: Waiter = {
        kind,
        grant: (permit) => {
          signal?.removeEventListener("abort", leave);
          resolve(permit);
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiters.push(waiter);
      this.#serve();
    });
  }

  /** The usage of the last window, requests in flight included, in about 60 buckets. */
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

  #isUnlimited(): boolean {
    return this.#requests === Number.POSITIVE_INFINITY && this.#bytes === Number.POSITIVE_INFINITY;
  }

  #isPermitted(kind: RequestKind): boolean {
    if (this.#isUnlimited()) return true;
    this.#window.forget();
    if (this.#window.requests + this.#inFlight >= this.#requests) return false;
    return this.#bytes === Number.POSITIVE_INFINITY || this.#bytesPermit(kind);
  }

  #bytesPermit(kind: RequestKind): boolean {
    // With nothing in flight and an empty window one request is always permitted, or a large event would wait for ever.
    if (this.#inFlight === 0 && this.#window.bytes === 0) return true;
    if (kind === "detail" && this.#details.largest === 0 && this.#detailsInFlight > 0) return false;
    const reserve = this.#details.largest;
    const next = kind === "detail" ? Math.max(1, reserve) : 1;
    return this.#window.bytes + reserve * this.#detailsInFlight + next <= this.#bytes;
  }

  #permit(kind: RequestKind): Permit {
    const details = kind === "detail" ? 1 : 0;
    let open = true;
    const end = (sentBytes: number | undefined): void => {
      if (!open) return;
      open = false;
      this.#inFlight -= 1;
      this.#detailsInFlight -= details;
      if (sentBytes !== undefined) this.#record(kind, sentBytes);
      this.#serve();
    };
    this.#inFlight += 1;
    this.#detailsInFlight += details;
    return { settle: (bytes) => end(bytes), cancel: () => end(undefined) };
  }

  #record(kind: RequestKind, bytes: number): void {
    this.#window.add(1, bytes); // also without a limit: the next run may have one
    if (kind === "detail" && bytes > 0) this.#details.add(bytes);
  }

  #serve(): void {
    for (
      let next = this.#waiters[0];
      next !== undefined && this.#isPermitted(next.kind);
      next = this.#waiters[0]
    ) {
      this.#waiters.shift();
      next.grant(this.#permit(next.kind));
    }
    if (this.#waiters.length > 0) this.#wakeLater();
    else this.#cancelAlarm();
  }

  #cancelAlarm(): void {
    this.#alarm?.abort();
    this.#alarm = undefined;
  }

  // One alarm for all. If the window is empty, a request is in flight, and its end serves the next.
  #wakeLater(): void {
    const atMs = this.#window.nextExpiryMs;
    if (atMs === undefined || this.#alarm !== undefined) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#clock.sleep(Math.max(1, atMs - this.#clock.monotonicMs()), alarm.signal).then(
      () => {
        this.#alarm = undefined;
        this.#serve();
      },
      () => undefined, // aborted: no request waits any more
    );
  }
}
