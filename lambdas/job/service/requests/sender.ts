// Sends one attempt as soon as the rate limiter permits it, counts it, and waits after one that failed.

import { advise, setting } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { CLOCK_TOLERANCE_MS, type Clock, type Random } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { Address, HttpResponse, Transport, TransportRequest } from "../http/transport.ts";
import type { HeldBackBy, Permit, RateLimiter, RequestKind } from "../rate-limit/rate-limiter.ts";
import { keepsTrying, permanentProblem } from "./connection-problem.ts";
import {
  asksToWait,
  attemptsExhausted,
  BadStatus,
  type Failure,
  isThrottled,
  requestName,
} from "./failure.ts";
import { askedWaitMs, isPutOff, mayPass, RetryDelays } from "./retry.ts";

export interface SenderOptions {
  readonly transport: Transport;
  readonly rateLimiter: RateLimiter;
  /** The headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Called when the reason for waiting changes; with undefined when requests are under way again. */
  readonly onWait?: ((wait: Wait | undefined) => void) | undefined;
  /** By the monotonic clock. Until then a request to a server that has answered none yet has more attempts than others. */
  readonly keepTryingUntilMs?: number | undefined;
  /** True where the service's clock is not compared with this computer's. */
  readonly isClockRight?: boolean | undefined;
}

/** Of one request, in all. */
export const ATTEMPTS = 6;
/** Seconds. */
const OLD_S = 600;

/** Adds no credentials, and sends nothing a second time. */
export class Sender {
  readonly counts = new ServiceCounts();
  /** Where the service's clock differs from this computer's by more than clocks may. */
  clockWarning: string | undefined;
  /** How many requests have had a response that was used. */
  successes = 0;
  /** Whether any response has come so far. */
  #hasResponded = false;
  /** Whether one has come that put nothing off. */
  #hasAnswered = false;
  #hasComparedClocks = false;
  readonly #options: SenderOptions;
  readonly #waitReporter: WaitReporter;
  readonly #delays: RetryDelays;
  #hasWarnedOfAge = false;
  /** For how long the service asked to wait since the last success. */
  #askedMs = 0;
  /** Once that is too long. */
  #failure: SyncError | undefined;

  constructor(options: SenderOptions) {
    const { rateLimiter, random, onWait } = options;
    this.#options = options;
    this.#waitReporter = new WaitReporter(onWait);
    this.#delays = new RetryDelays(random, rateLimiter.windowMs);
  }

  /** What the service averages its limits over. */
  get windowMs(): number {
    return this.#options.rateLimiter.windowMs;
  }

  /** How long a response asks to wait; undefined if it does not say. */
  askedWaitMs(response: Pick<HttpResponse, "status" | "headers">): number | undefined {
    const { clock, rateLimiter } = this.#options;
    return askedWaitMs(response, clock.now(), rateLimiter.windowMs);
  }

  /** A response came that is used. */
  succeeded(): void {
    this.successes += 1;
    this.#askedMs = 0;
    this.#delays.succeeded();
  }

  /** Permission to send one request now: use or cancel it at once. Throws `THROTTLED` or the signal's reason. */
  async admit(kind: RequestKind, signal: AbortSignal | undefined): Promise<Permit> {
    const { rateLimiter } = this.#options;
    const wait: Wait = {
      get kind() {
        return rateLimiter.heldBackBy;
      },
      get untilMs() {
        return rateLimiter.freeAtMs(1);
      },
    };
    for (;;) {
      signal?.throwIfAborted();
      if (this.#failure !== undefined) throw this.#failure;
      const permit =
        rateLimiter.tryAcquire(kind) ??
        (await this.#waitReporter.during(wait, () => rateLimiter.acquire(kind, signal)));
      // The answer that made room for this request may have been the one that asks for a pause.
      if (this.#failure === undefined && rateLimiter.pausedMs === 0) return permit;
      permit.cancel();
    }
  }

  /** Throws `NoResponse` or the signal's reason. */
  async send(
    permit: Permit,
    request: TransportRequest,
    signal: AbortSignal | undefined,
  ): Promise<HttpResponse> {
    const { transport, headers, clock, rateLimiter } = this.#options;
    const sentAtMs = clock.monotonicMs();
    let bytes: number | undefined;
    this.counts.requests += 1;
    this.#waitReporter.requestBegins(request.url.origin);
    try {
      const all = { ...headers, ...request.headers };
      const response = await transport.send({ ...request, headers: all }, signal);
      this.#hasResponded = true;
      this.#waitReporter.answered();
      this.#hasAnswered ||= !isPutOff(new BadStatus(response.status, this.askedWaitMs(response)));
      this.#compareClocks(response.headers);
      const { body, decodedBytes } = response;
      // The service may have counted the whole of a body that broke off.
      bytes = body.kind === "broken" ? Math.max(decodedBytes, permit.expectedBytes) : decodedBytes;
      if (response.status === 429) this.counts.throttled += 1;
      if (this.askedWaitMs(response) === undefined) rateLimiter.noteStatus(response.status, sentAtMs);
      return response;
    } finally {
      this.#waitReporter.requestEnds();
      this.counts.bytes += bytes ?? 0;
      permit.settle(bytes);
    }
  }

  /** By the first `Date` that no cache has kept (RFC 9111 §5.1): it is that of the response, whatever that took. */
  #compareClocks(headers: HttpResponse["headers"]): void {
    const { clock, logger, isClockRight } = this.#options;
    if (isClockRight || this.#hasComparedClocks || headers.get("age")) return;
    const serviceMs = Date.parse(headers.get("date")?.[0] ?? "");
    if (Number.isNaN(serviceMs)) return;
    const nowMs = clock.now();
    this.#hasComparedClocks = true;
    if (Math.abs(nowMs - serviceMs) <= CLOCK_TOLERANCE_MS) return;
    const [own, its] = [nowMs, serviceMs].map((ms) => new Date(ms).toISOString());
    this.clockWarning = `This computer's clock shows ${own}, and the service's ${its}. Set the one that is wrong.`;
    logger.warn(this.clockWarning);
  }

  /** Of the first answer that is used and was in a cache for long (RFC 9111 §5.1): the data may be older than the run. */
  noteAge(headers: HttpResponse["headers"]): void {
    const age = headers.get("age")?.[0]?.trim() ?? "";
    if (this.#hasWarnedOfAge || !/^\d+$/.test(age) || Number(age) <= OLD_S) return;
    this.#hasWarnedOfAge = true;
    this.#options.logger.warn(
      `A cache before the service answers with what it got ${Math.floor(Number(age) / 60)} minutes ago (Age), so what is published may be as old. If it must not be, ask the service's operator.`,
    );
  }

  /**
   * Waits between a failed attempt and the next, counts and logs it; holds all requests back where the service asks for it.
   * Throws `SERVICE_UNAVAILABLE` or `THROTTLED` after the last attempt or if no retry can succeed, or the signal's reason.
   * @param failures how many attempts the request has used, this one included
   * @param isLast no other attempt may follow
   */
  async backOff(
    method: TransportRequest["method"],
    url: Address,
    failure: Failure,
    failures: number,
    signal: AbortSignal | undefined,
    isLast = false,
  ): Promise<void> {
    const { clock, logger, keepTryingUntilMs = 0 } = this.#options;
    const mayWait = !isLast && !this.#hasAnswered && mayPass(failure, method);
    const leftMs = mayWait ? keepTryingUntilMs - clock.monotonicMs() : 0;
    const longestMs = leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY;
    const leastMs = asksToWait(failure) ? failure.retryAfterMs : 0;
    const delayMs = Math.min(longestMs, Math.max(leastMs, this.#delays.after(failure, failures)));
    if (asksToWait(failure)) this.holdBack(leastMs, failure.status, true);
    else if (isThrottled(failure)) this.holdBack(delayMs, failure.status, false);
    const request = requestName(method, url);
    if (leftMs > 0) {
      if (failures === ATTEMPTS) logger.info(keepsTrying(request, failure, leftMs));
    } else {
      const permanent = permanentProblem({ request, url, failures }, failure, this.#hasResponded);
      if (permanent !== undefined) throw permanent;
      if (isLast || failures >= ATTEMPTS) throw attemptsExhausted({ request, failures }, failure);
    }
    this.counts.retries += 1;
    logger.debug(`${request}: ${failure.message}; next attempt in ${Math.ceil(delayMs) / 1_000} s`, {
      request,
      failures,
      delayMs,
    });
    const kind = asksToWait(failure) ? "retry-after" : isThrottled(failure) ? "throttled" : "retry";
    await this.#waitReporter.during({ kind, untilMs: clock.monotonicMs() + delayMs }, () =>
      clock.sleep(delayMs, signal),
    );
  }

  /**
   * No request is sent for `ms` from now. Throws `THROTTLED` if that is too long, then and for every later request.
   * @param isAsked by the response, whatever its status
   */
  holdBack(ms: number, status: number, isAsked: boolean): void {
    const { rateLimiter } = this.#options;
    // Of the pauses that the service did not ask for, each request has a few only.
    if (isAsked) this.#askedMs += Math.max(0, ms - rateLimiter.pausedMs);
    const mostMs = longestWaitMs(rateLimiter.windowMs);
    if (this.#askedMs > mostMs) {
      this.#failure = tooLong(ms, status, mostMs);
      throw this.#failure;
    }
    rateLimiter.pause(ms, isAsked);
  }
}

export const MAX_PAUSE_MS = 15 * 60_000;

/**
 * How long a run waits where the service asks for it: a longer pause, at once or in total without a success in between,
 * ends it. The service may rightly ask to wait for as long as it averages its limits over.
 */
export function longestWaitMs(windowMs: number): number {
  return Math.max(MAX_PAUSE_MS, windowMs);
}

function tooLong(ms: number, status: number, mostMs: number): SyncError {
  const minutes = Math.floor(mostMs / 60_000);
  const seconds = Number.isFinite(ms) ? Math.ceil(ms / 1_000) : null;
  return new SyncError(
    "THROTTLED",
    `The service asks to wait (status ${status}) longer than the ${minutes} minutes that this client waits.`,
    {
      fields: { status, seconds },
      next: advise`Run again later. If it happens often, lower ${setting("requestsPerMinute")} to what the service's operator allows you.`,
    },
  );
}

/** What a run has used of the service so far: the columns `requests` to `bytes` of `sync_runs`. */
export class ServiceCounts {
  /** Attempts sent, logins and retries included. */
  requests = 0;
  /** Attempts sent after a failure. A request sent again after a new login is not a retry. */
  retries = 0;
  /** Responses with status 429. */
  throttled = 0;
  /** Logins begun, whatever the number of attempts each took. */
  logins = 0;
  /** Body bytes as the budget counts them: after decoding. */
  bytes = 0;
}

/** Reports to the progress display what the run waits for while no request is under way, or no answer has ever come. */
export interface Wait {
  /** What the rate limiter says, `retry` for the back-off after a failure, or `silent` for the first answer of all. */
  readonly kind: HeldBackBy | "retry" | "silent";
  /** The end of the wait, an instant of the monotonic clock. */
  readonly untilMs: number;
  /** The server that is silent. */
  readonly origin?: string;
}

/** The first kind among the open waits explains the others. */
const ORDER: readonly Wait["kind"][] = ["retry-after", "throttled", "budget", "retry"];

export class WaitReporter {
  readonly #open = new Set<Wait>();
  readonly #onWait: (wait: Wait | undefined) => void;
  #underWay = 0;
  #hasAnswered = false;
  #silent: Wait | undefined;
  #shown: Wait | undefined;

  constructor(onWait: (wait: Wait | undefined) => void = () => undefined) {
    this.#onWait = onWait;
  }

  /** Runs `work`, which is a wait. What it says of the wait may change. */
  async during<T>(wait: Wait, work: () => Promise<T>): Promise<T> {
    this.#open.add(wait);
    this.#show();
    try {
      return await work();
    } finally {
      this.#open.delete(wait);
      this.#show();
    }
  }

  /** While a request is under way, no wait is reported but the one for the first answer of all. */
  requestBegins(origin: string): void {
    this.#underWay += 1;
    if (!this.#hasAnswered) this.#silent = { kind: "silent", untilMs: Number.POSITIVE_INFINITY, origin };
    this.#show();
  }

  /** Shows as soon as the request ends. */
  answered(): void {
    this.#hasAnswered = true;
    this.#silent = undefined;
  }

  requestEnds(): void {
    this.#underWay -= 1;
    this.#show();
  }

  #show(): void {
    const wait = this.#underWay > 0 ? this.#silent : this.#foremost();
    if (wait?.kind === this.#shown?.kind && wait?.untilMs === this.#shown?.untilMs) return;
    this.#shown = wait;
    this.#onWait(wait);
  }

  #foremost(): Wait | undefined {
    for (const kind of ORDER) {
      const ends = [...this.#open].filter((wait) => wait.kind === kind).map((wait) => wait.untilMs);
      if (ends.length > 0) return { kind, untilMs: Math.min(...ends) };
    }
    return undefined;
  }
}
