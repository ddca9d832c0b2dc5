// Whether a request is sent again, and when: what a response's status asks for, and how long each wait is.

import type { Random } from "../../runtime/clock.ts";
import type { HttpResponse } from "../http/transport.ts";
import { isUnanswered } from "./connection-problem.ts";
import { asksToWait, type Failure, isThrottled } from "./failure.ts";

/** Before the first retry of a request that failed alone. */
const SOON_MS = 25;
const SOON_SPREAD_MS = 50;
const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;

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
 * Whether a request was certainly not carried out: nothing of it left, or a service that was too busy has put it off. Then one
 * that changes something may be sent again as often as any other; else what it did is not known.
 */
export function isPutOff(failure: Failure): boolean {
  if (failure.kind !== "status") return failure.kind === "no-response" && failure.isUnsent;
  return failure.status === 503 || (isThrottled(failure) && asksToWait(failure));
}

/** Whether a start that no person waits for should wait for the other side. */
export function mayPass(failure: Failure, method: "GET" | "POST"): boolean {
  if (failure.kind === "status") return isPutOff(failure);
  return isUnanswered(failure) && (method === "GET" || isPutOff(failure));
}

/**
 * How long a response asks to wait; undefined if it does not say. A limit counts, up to one window, where the response is a
 * 429, or states that nothing of it remains.
 */
export function askedWaitMs(
  { status, headers }: Pick<HttpResponse, "status" | "headers">,
  nowMs: number,
  limitWindowMs: number,
): number | undefined {
  const waitMs = retryAfterMs(headers, nowMs);
  if (waitMs !== undefined || status < 300) return waitMs;
  const isTooMany = status === 429;
  const resetsMs = [...exhaustedLimits(headers, isTooMany), ...exhaustedCounts(headers, isTooMany)]
    .map((reset) => fromNowMs(reset, headers, nowMs) ?? 0)
    // A reset that has passed already did not help.
    .filter((ms) => ms > 0);
  if (resetsMs.length > 0) return Math.min(limitWindowMs, Math.max(...resetsMs));
  const isUnread = headers.get("retry-after")?.some((each) => each.trim() !== "") === true;
  return isUnread && statusClass(status) === "retry" ? UNREAD_MS : undefined;
}

/** For a `Retry-After` that cannot be read: nothing says that the wait it asks for is short. */
const UNREAD_MS = 60_000;

/** The headers of an early draft of the next one, and headers that services have made up. */
const LIMIT_PREFIXES = ["ratelimit-", "x-ratelimit-", "x-rate-limit-"] as const;

function exhaustedCounts(headers: HttpResponse["headers"], isTooMany: boolean): readonly string[] {
  return LIMIT_PREFIXES.filter(
    (prefix) => isTooMany || headers.get(`${prefix}remaining`)?.[0]?.trim() === "0",
  ).flatMap((prefix) => headers.get(`${prefix}reset`) ?? []);
}

/**
 * When the limits of `RateLimit` that are used up are reset, in seconds: `"default";r=0;t=30` or, in earlier drafts of
 * draft-ietf-httpapi-ratelimit-headers, `limit=100, remaining=0, reset=30`.
 */
function exhaustedLimits(headers: HttpResponse["headers"], isTooMany: boolean): readonly string[] {
  const values = headers.get("ratelimit") ?? [];
  const limits = values.flatMap((value) => (value.includes(";") ? value.split(",") : [value]));
  return limits.flatMap((limit) => {
    const parameters = new Map(limit.split(/[;,]/).map((each) => splitAt(each, "=")));
    const left = parameters.get("r") ?? (isTooMany ? "0" : parameters.get("remaining"));
    const reset = parameters.get("t") ?? parameters.get("reset");
    return left === "0" && reset !== undefined ? [reset] : [];
  });
}

function splitAt(text: string, mark: string): readonly [string, string] {
  const [name = "", value = ""] = text.split(mark, 2);
  return [name.trim(), value.trim()];
}

/** The longest wait that `Retry-After` asks for (RFC 9110 §10.2.3), undefined if it is absent or invalid. */
export function retryAfterMs(headers: HttpResponse["headers"], nowMs: number): number | undefined {
  const asked = (headers.get("retry-after") ?? []).map((each) => fromNowMs(each, headers, nowMs));
  const waitsMs = asked.filter((ms) => ms !== undefined);
  return waitsMs.length === 0 ? undefined : Math.max(...waitsMs);
}

/** Larger numbers of seconds, and then of milliseconds, are instants since the year 2001 and not durations. */
const FIRST_INSTANT_S = 1e9;
const FIRST_INSTANT_MS = 1e12;

/**
 * Of a number of seconds, perhaps with a fraction, an HTTP date, or a Unix time in seconds or milliseconds. An instant is
 * measured against the `Date` of the response, so that a wrong clock on either side does not matter.
 */
function fromNowMs(text: string, headers: HttpResponse["headers"], nowMs: number): number | undefined {
  const value = text.trim();
  const number = /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
  if (number !== undefined && number < FIRST_INSTANT_S) return Math.max(0, Math.ceil(number * 1_000));
  const untilMs =
    number === undefined ? httpDateMs(value) : number < FIRST_INSTANT_MS ? number * 1_000 : number;
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
  /** Of the last attempts, whether each failed for no reason that the service gave. */
  readonly #failed: boolean[] = [];

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
    if (asksToWait(failure)) return retryDelayMs(failures, this.#random);
    if (isThrottled(failure)) return throttledDelayMs(failures, this.#limitWindowMs, this.#random);
    this.#add(true);
    const isAlone = failures === 1 && this.#failed.filter(Boolean).length < MOST_FAILED;
    return isAlone
      ? SOON_MS + Math.floor(this.#random.next() * SOON_SPREAD_MS)
      : retryDelayMs(failures, this.#random);
  }

  #add(failed: boolean): void {
    this.#failed.push(failed);
    if (this.#failed.length > REMEMBERED) this.#failed.shift();
  }
}

/** Exponential back-off with full jitter: anything from 0 to 1 s, 2 s, 4 s … 30 s after 1, 2, 3 … failures. */
export function retryDelayMs(failures: number, random: Random): number {
  const ceilingMs = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (Math.max(1, failures) - 1));
  return Math.floor(random.next() * ceilingMs);
}

/**
 * The same after a 429 that does not say how long to wait. A service refuses for as long as its window is full, so five
 * pauses in a row last together as long as that, and up to one and a half times as long. The first one is short: often
 * others have used the limit just then.
 */
export function throttledDelayMs(failures: number, limitWindowMs: number, random: Random): number {
  const windowMs = Math.max(60_000, limitWindowMs);
  const doublings = 2 ** (Math.min(5, Math.max(1, failures)) - 1);
  // At least 0, 1, 3, 7 and 15 parts of 26.
  const leastMs = (windowMs * (doublings - 1)) / 26;
  return Math.ceil(leastMs + (random.next() * windowMs * doublings) / 60);
}
