// Whether a request is sent again, and when: what a response's status asks for, and how long each wait is.

import type { Random } from "../../runtime/random.ts";
import type { HttpResponse } from "../http/transport.ts";
import { type Failure, isThrottled } from "./failure.ts";

/** Before the first retry of a request that failed alone. */
const SOON_MS = 25;
const SOON_SPREAD_MS = 50;
const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
const MAX_BEYOND_MINUTE_MS = 13.5 * 60_000;

type StatusClass = "read" | "renew" | "retry" | "redirect" | "refused";

/** `read`: use the body; `renew`: the credentials are stale; `refused`: the request's own rules decide. */
export function statusClass(status: number): StatusClass {
  if (status >= 200 && status < 300) return "read";
  if (status === 401) return "renew";
  if (status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600)) return "retry";
  if (status >= 300 && status < 400) return "redirect";
  return "refused";
}

/**
 * The wait that `Retry-After` asks for (RFC 9110 §10.2.3), undefined if it is absent or invalid. A date is measured
 * against the `Date` of the response, so that a wrong clock on either side does not matter.
 */
export function retryAfterMs(headers: HttpResponse["headers"], nowMs: number): number | undefined {
  const value = headers.get("retry-after")?.[0]?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const untilMs = httpDateMs(value);
  if (untilMs === undefined) return undefined;
  const sinceMs = httpDateMs(headers.get("date")?.[0]?.trim() ?? "") ?? nowMs;
  return Math.max(0, untilMs - sinceMs);
}

// RFC 9110 §5.6.7: recipients accept all three forms. `Date.parse` alone would accept "5 s" as well.
const IMF_OR_RFC850 = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -](?:\d{4}|\d{2}) \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

function httpDateMs(text: string): number | undefined {
  if (!IMF_OR_RFC850.test(text) && !ASCTIME.test(text)) return undefined;
  const ms = Date.parse(ASCTIME.test(text) ? `${text} GMT` : text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** So many attempts tell whether a failed request is alone, or the service as a whole struggles. */
const REMEMBERED = 50;
/** A fifth. The requests in flight when a connection or a server dies are fewer, or soon outweighed. */
const MOST_FAILED = 10;

/** How long the requests of one client wait after a failure, at least. */
export class RetryDelays {
  readonly #random: Random;
  readonly #limitWindowMs: number;
  /** Of the last attempts, whether each failed for no reason that the service gave: a ring. */
  readonly #failed: boolean[] = Array.from({ length: REMEMBERED }, () => false);
  #at = 0;
  #failures = 0;

  /** @param limitWindowMs what the service averages its limits over */
  constructor(random: Random, limitWindowMs: number) {
    this.#random = random;
    this.#limitWindowMs = limitWindowMs;
  }

  /** A response came that is used. */
  succeeded(): void {
    this.#add(false);
  }

  /** @param failures of this request so far. A first one that is alone is over sooner than a second. */
  after(failure: Failure, failures: number): number {
    if (failure.kind === "status" && failure.retryAfterMs !== undefined)
      return retryDelayMs(failures, this.#random);
    if (isThrottled(failure)) return throttledDelayMs(failures, this.#limitWindowMs, this.#random);
    this.#add(true);
    const isAlone = failures === 1 && this.#failures < MOST_FAILED;
    return isAlone
      ? SOON_MS + Math.floor(this.#random.next() * SOON_SPREAD_MS)
      : retryDelayMs(failures, this.#random);
  }

  #add(failed: boolean): void {
    this.#failures += Number(failed) - Number(this.#failed[this.#at]);
    this.#failed[this.#at] = failed;
    this.#at = (this.#at + 1) % REMEMBERED;
  }
}

/** Exponential back-off with full jitter: anything from 0 to 1 s, 2 s, 4 s … 30 s after 1, 2, 3 … failures. */
export function retryDelayMs(failures: number, random: Random): number {
  return jittered(failures, BASE_DELAY_MS, MAX_DELAY_MS, random);
}

/**
 * The same after a 429 that does not say how long to wait. A service that averages its limits over a window longer than
 * a minute may refuse for minutes: five pauses in a row are together up to about such a window, but no more than 15
 * minutes.
 */
export function throttledDelayMs(failures: number, windowMs: number, random: Random): number {
  const beyondMinuteMs = Math.min(Math.max(0, windowMs - 60_000), MAX_BEYOND_MINUTE_MS);
  const baseMs = BASE_DELAY_MS + beyondMinuteMs / 30;
  return jittered(failures, baseMs, Math.max(MAX_DELAY_MS, 16 * baseMs), random);
}

function jittered(failures: number, baseMs: number, mostMs: number, random: Random): number {
  const ceilingMs = Math.min(mostMs, baseMs * 2 ** (Math.max(1, failures) - 1));
  return Math.floor(random.next() * ceilingMs);
}
