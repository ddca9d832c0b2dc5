// Permits requests no faster than the service allows: limits per minute, averaged over a sliding window, and none in a
// pause that it asks for.

import type { Clock } from "../../runtime/clock.ts";
import { allowance, type Limits, windowMsOf } from "../../settings/values.ts";
import { Pace } from "./pace.ts";
import {
  type Amount,
  UNLIMITED,
  type Usage,
  type UsageCarrier,
  UsageRecord,
  UsageWindow,
} from "./usage-window.ts";

/** How much of the budget may be missing in what was recorded before a crash: a minute's. */
export const UNRECORDED_MS = 60_000;

/** A request without a response, given up or in flight, may be counted by the service so much later. */
const UNANSWERED_MS = 30_000;

/** How a request's bytes are estimated: a detail as the largest recent one; for others nothing is known. */
export type RequestKind = "detail" | "other";

/** Permission to send one request. Ends with the first call of either method. */
export interface Permit {
  /** How large the body is expected to be at most; 0 if nothing is known. */
  readonly expectedBytes: number;
  /** The request was sent. `bytes`: the size of the decoded response body; undefined if no response came. */
  settle(bytes: number | undefined): void;
  /** The request was not sent. */
  cancel(): void;
}

/** The service asked to wait; it refused a request as one too many; the budget has no room. */
export type HeldBackBy = "retry-after" | "throttled" | "budget";

/** How much of the budget is used, for people who wait for it. */
export interface BudgetUse {
  /** The part of the budget that is free latest. */
  readonly limit: "requests" | "bytes";
  /** Of that part, in the window that ends now: earlier runs and requests in flight included. */
  readonly used: number;
  readonly most: number;
  readonly windowMs: number;
}

interface Waiter {
  readonly kind: RequestKind;
  readonly grant: (permit: Permit) => void;
}

export interface RateLimiterOptions extends Limits {
  /** The part of both limits that is used. The rest is a reserve for bodies that are larger than expected. */
  readonly share?: number;
  readonly clock: Clock;
  readonly carrier?: UsageCarrier;
}

/**
 * A request counts from its permit until one window after its *response*, or after the latest that the service may count one
 * without a response. The service counts it at some point in between, so no window of the service holds more than the limit,
 * whatever the latency. First come, first served.
 */
export class RateLimiter {
  readonly #clock: Clock;
  /** What the limits are averaged over. */
  readonly windowMs: number;
  /** What a window may hold. */
  readonly #most: Amount;
  readonly #window: UsageWindow;
  readonly #waiters: Waiter[] = [];
  #alarm: AbortController | undefined;
  readonly #details = new RecentSizes();
  readonly #pace = new Pace();
  readonly #record: UsageRecord | undefined;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #isPauseAsked: boolean | undefined;
  #inFlight = 0;
  #detailsInFlight = 0;

  constructor({ share, clock, carrier, ...limits }: RateLimiterOptions) {
    const allowed = (windowMs: number): Amount => ({
      requests: allowance(limits.requestsPerMinute, windowMs, share),
      bytes: allowance(limits.bytesPerMinute, windowMs, share),
    });
    this.#clock = clock;
    this.windowMs = windowMsOf(limits);
    this.#most = allowed(this.windowMs);
    this.#window = new UsageWindow(this.windowMs, clock, carrier?.earlier ?? []);
    if (carrier === undefined) return;
    // Within a window of a minute never more than a minute's budget is missing in what is carried.
    const most = this.windowMs > UNRECORDED_MS ? allowed(UNRECORDED_MS) : UNLIMITED;
    const usage = (): readonly Usage[] => this.usage();
    this.#record = new UsageRecord(carrier, { most, usage, onRecorded: () => this.#serve() });
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
    const free = this.#freeAtMs(requests);
    return Math.max(free.requests, free.bytes, this.#pausedUntilMs, this.#pace.freeAtMs);
  }

  /** The part of the budget that holds so many more details back most. */
  use(requests = 1): BudgetUse {
    const free = this.#freeAtMs(requests);
    const limit = free.bytes > free.requests || !Number.isFinite(this.#most.requests) ? "bytes" : "requests";
    const used = this.#window.used[limit] + this.#expectedInFlight[limit];
    return { limit, used, most: this.#most[limit], windowMs: this.windowMs };
  }

  /** For how long no permit is given, whatever the budget has. It counts in what `waitMs` says. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.monotonicMs());
  }

  /**
   * Gives no permit for so long from now.
   * @param isAsked the service named its end, and did not just refuse a request as one too many
   */
  pause(ms: number, isAsked: boolean): void {
    if (ms <= this.pausedMs) return;
    this.#pausedUntilMs = this.#clock.monotonicMs() + ms;
    this.#isPauseAsked = isAsked;
  }

  /**
   * A response has come, without a wait that it asks for. A 503 lowers the rate while others are answered.
   * @param sentAtMs by the monotonic clock
   */
  noteStatus(status: number, sentAtMs: number): void {
    if (status === 503) this.#pace.overload(sentAtMs, this.#clock.monotonicMs());
    else if (status < 400) this.#pace.answer(sentAtMs);
  }

  /** Why requests wait, if they do. */
  get heldBackBy(): HeldBackBy {
    if (this.pausedMs === 0) return "budget";
    return this.#isPauseAsked ? "retry-after" : "throttled";
  }

  /** How many requests wait for a permit. */
  get waiting(): number {
    return this.#waiters.length;
  }

  /** How many details of the recent sizes an empty window gives; `Infinity` without a limit. */
  get detailsPerWindow(): number {
    const { largest, mean } = this.#details;
    const bySize =
      mean === 0 ? Number.POSITIVE_INFINITY : 1 + Math.floor((this.#most.bytes - largest) / mean);
    return Math.max(1, Math.min(this.#most.requests, bySize));
  }

  /** A permit, if one is free and no other request waits for it. */
  tryAcquire(kind: RequestKind): Permit | undefined {
    return this.#waiters.length === 0 ? this.#permitIfFree(kind) : undefined;
  }

  /** Waits for a permit; rejects with the signal's reason. */
  acquire(kind: RequestKind, signal?: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
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
      signal?.addEventListener("abort", leave);
      this.#waiters.push(waiter);
      this.#serve();
    });
  }

  /** The usage of the last window, requests in flight included. */
  usage(): readonly Usage[] {
    const ended = this.#window.usage();
    if (this.#inFlight === 0) return ended;
    return [...ended, { atMs: this.#clock.now() + UNANSWERED_MS, ...this.#expectedInFlight }];
  }

  /** Gives the requests at the front the permits that are there now. */
  #serve(): void {
    for (let next = this.#waiters[0]; next !== undefined; next = this.#waiters[0]) {
      const permit = this.#permitIfFree(next.kind);
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
    const heldMs = Math.max(this.#pausedUntilMs, this.#pace.freeAtMs);
    const atMs = heldMs > this.#clock.monotonicMs() ? heldMs : this.#window.nextExpiryMs;
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

  get #expectedInFlight(): Amount {
    return { requests: this.#inFlight, bytes: this.#details.largest * this.#detailsInFlight };
  }

  /** When each part of the budget has room for so many more details, by the monotonic clock. */
  #freeAtMs(requests: number): Amount {
    const { largest, mean } = this.#details;
    const bytes = Math.max(1, largest + (requests - 1) * mean);
    return {
      requests: this.#amountFreeAtMs("requests", requests),
      bytes: this.#amountFreeAtMs("bytes", bytes),
    };
  }

  /** Whole windows, and then what is left of the amount. */
  #amountFreeAtMs(part: keyof Amount, amount: number): number {
    const most = this.#most[part];
    const windows = Number.isFinite(most) ? Math.max(0, Math.ceil(amount / most) - 1) : 0;
    const rest = windows === 0 ? amount : amount - windows * most;
    const free = most - rest - this.#expectedInFlight[part];
    const lengthMs = this.windowMs + 1;
    // If requests in flight fill it, a window is empty a window after their responses.
    const atMs = this.#window.fitsAtMs((used) => used[part] <= free) ?? this.#clock.monotonicMs() + lengthMs;
    return atMs + windows * lengthMs;
  }

  #isPermitted(kind: RequestKind): boolean {
    if (this.pausedMs > 0 || this.#pace.freeAtMs > this.#clock.monotonicMs()) return false;
    const { requests, bytes } = this.#most;
    if (Math.min(requests, bytes) === Number.POSITIVE_INFINITY) return true;
    if (this.#record?.isOwn() === false) return false;
    this.#window.forget();
    if (this.#window.used.requests + this.#inFlight >= requests) return false;
    if (bytes !== Number.POSITIVE_INFINITY && !this.#bytesPermit(kind)) return false;
    return this.#record?.permits(this.#expectedBytes(kind)) ?? true;
  }

  #bytesPermit(kind: RequestKind): boolean {
    const used = this.#window.used.bytes;
    // With nothing in flight and an empty window one request is always permitted, or a large event would wait for ever.
    if (this.#inFlight === 0 && used === 0) return true;
    if (kind === "detail" && this.#details.largest === 0 && this.#detailsInFlight > 0) return false;
    const next = Math.max(1, this.#expectedBytes(kind));
    return used + this.#expectedInFlight.bytes + next <= this.#most.bytes;
  }

  #permitIfFree(kind: RequestKind): Permit | undefined {
    return this.#isPermitted(kind) ? this.#permit(kind) : undefined;
  }

  #permit(kind: RequestKind): Permit {
    const details = kind === "detail" ? 1 : 0;
    let open = true;
    const expectedBytes = this.#expectedBytes(kind);
    const end = (count: () => void): void => {
      if (!open) return;
      open = false;
      this.#inFlight -= 1;
      this.#detailsInFlight -= details;
      count();
      this.#serve();
    };
    const settle = (bytes: number | undefined): void => {
      // Also without a limit: the next run may have one.
      this.#window.add(
        { requests: 1, bytes: bytes ?? expectedBytes },
        bytes === undefined ? UNANSWERED_MS : 0,
      );
      this.#record?.add({ requests: 0, bytes: Math.max(0, (bytes ?? 0) - expectedBytes) });
      if (kind === "detail" && bytes) this.#details.add(bytes);
    };
    this.#inFlight += 1;
    this.#detailsInFlight += details;
    this.#pace.send(this.#clock.monotonicMs());
    this.#record?.add({ requests: 1, bytes: expectedBytes });
    return { expectedBytes, settle: (bytes) => end(() => settle(bytes)), cancel: () => end(() => undefined) };
  }

  #expectedBytes(kind: RequestKind): number {
    return kind === "detail" ? this.#details.largest : 0;
  }
}

/** Remembers the sizes of the last bodies, to estimate the next ones. */
const REMEMBERED = 100;

class RecentSizes {
  readonly #sizes: number[] = [];

  /** The largest of the last 100 bodies; 0 before the first. */
  get largest(): number {
    return Math.max(0, ...this.#sizes);
  }

  /** The mean of the last 100 bodies; 0 before the first. */
  get mean(): number {
    return this.#sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, this.#sizes.length);
  }

  add(bytes: number): void {
    this.#sizes.push(bytes);
    if (this.#sizes.length > REMEMBERED) this.#sizes.shift();
  }
}
