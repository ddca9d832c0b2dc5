// Sends one attempt as soon as cooldown and rate limiter permit it, counts it, and waits after one that failed.

import { SyncError } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { Random } from "../../runtime/random.ts";
import type { Address, HttpResponse, Transport, TransportRequest } from "../http/transport.ts";
import type { Permit, RateLimiter, RequestKind } from "../rate-limit/rate-limiter.ts";
import { isUnanswered, keepsTrying, permanentProblem } from "./connection-problem.ts";
import { attemptsExhausted, type Failure, isThrottled, requestName } from "./failure.ts";
import { RetryDelays } from "./retry.ts";

interface SenderOptions {
  readonly transport: Transport;
  readonly rateLimiter: RateLimiter;
  /** Of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onWait?: ((wait: Wait | undefined) => void) | undefined;
  /** By the monotonic clock. Until then a request to a server that has not responded yet has more attempts than others. */
  readonly keepTryingUntilMs?: number | undefined;
}

const ATTEMPTS = 6;

/** Adds no credentials, and sends nothing a second time. */
export class Sender {
  readonly counts = new ServiceCounts();
  /** Whether any response has come so far. */
  #hasResponded = false;
  readonly #options: SenderOptions;
  readonly #cooldown: Cooldown;
  readonly #waitReporter: WaitReporter;
  readonly #delays: RetryDelays;

  constructor(options: SenderOptions) {
    const { rateLimiter, clock, random, onWait } = options;
    this.#options = options;
    this.#cooldown = new Cooldown(clock, rateLimiter);
    this.#waitReporter = new WaitReporter(onWait);
    this.#delays = new RetryDelays(random, rateLimiter.windowMs);
  }

  /** How many requests have had a response that was used. */
  get successes(): number {
    return this.#cooldown.successes;
  }

  /** What the service averages its limits over. */
  get limitWindowMs(): number {
    return this.#options.rateLimiter.windowMs;
  }

  /** A response came that is used. */
  succeeded(): void {
    this.#cooldown.succeeded();
    this.#delays.succeeded();
  }

  /** Permission to send one request now: use or cancel it at once. Throws `THROTTLED` or the signal's reason. */
  async admit(kind: RequestKind, signal: AbortSignal | undefined): Promise<Permit> {
    const { rateLimiter } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      if (!this.#cooldown.isOver) {
        await this.#waitReporter.during(
          this.#cooldown.isAsked ? "retry-after" : "throttled",
          () => this.#cooldown.untilMs,
          () => this.#cooldown.wait(signal),
        );
      }
      const permit =
        rateLimiter.tryAcquire(kind) ??
        (await this.#waitReporter.during(
          "budget",
          () => rateLimiter.freeAtMs(1),
          () => rateLimiter.acquire(kind, signal),
        ));
      // A cooldown may have begun while this request waited for the rate limiter.
      if (this.#cooldown.isOver) return permit;
      permit.cancel();
    }
  }

  /** Throws `NoResponse` or the signal's reason. */
  async send(
    permit: Permit,
    request: TransportRequest,
    signal: AbortSignal | undefined,
  ): Promise<HttpResponse> {
    const { transport, headers } = this.#options;
    let bytes = 0;
    this.counts.requests += 1;
    this.#waitReporter.requestBegins();
    try {
      const all = { ...headers, ...request.headers };
      const response = await transport.send({ ...request, headers: all }, signal);
      this.#hasResponded = true;
      const { body, decodedBytes } = response;
      // The service may have counted the whole of a body that broke off.
      bytes = body.kind === "broken" ? Math.max(decodedBytes, permit.expectedBytes) : decodedBytes;
      if (response.status === 429) this.counts.throttled += 1;
      return response;
    } finally {
      this.#waitReporter.requestEnds();
      this.counts.bytes += bytes;
      permit.settle(bytes);
    }
  }

  /**
   * Waits between a failed attempt and the next, counts and logs it; holds all requests back where the service asks for it.
   * Throws `SERVICE_UNAVAILABLE` or `THROTTLED` after the last attempt or if no retry can succeed, or the signal's reason.
   * @param failures how many attempts the request has used, this one included
   */
  async backOff(
    method: TransportRequest["method"],
    url: Address,
    failure: Failure,
    failures: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { clock, logger, keepTryingUntilMs = 0 } = this.#options;
    const requestedMs = failure.kind === "status" ? failure.retryAfterMs : undefined;
    const isSilent = requestedMs === undefined && isThrottled(failure);
    const leftMs = this.#hasResponded || !isUnanswered(failure) ? 0 : keepTryingUntilMs - clock.monotonicMs();
    const longestMs = leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY;
    const delayMs = Math.min(longestMs, Math.max(requestedMs ?? 0, this.#delays.after(failure, failures)));
    if (failure.kind === "status" && (requestedMs !== undefined || isSilent))
      this.#cooldown.extend(requestedMs ?? delayMs, failure.status, { isAsked: !isSilent });
    const request = requestName(method, url);
    if (leftMs > 0) {
      if (failures === ATTEMPTS) logger.info(keepsTrying(request, failure, leftMs));
    } else {
      const permanent = permanentProblem({ request, url, failures }, failure, this.#hasResponded);
      if (permanent !== undefined) throw permanent;
      if (failures >= ATTEMPTS) throw attemptsExhausted({ request, failures }, failure);
    }
    this.counts.retries += 1;
    const seconds = (delayMs / 1_000).toFixed(delayMs < 100 ? 2 : 1);
    logger.debug(`${request}: ${failure.message}; next attempt in ${seconds} s`, {
      request,
      failures,
      delayMs,
    });
    const untilMs = clock.monotonicMs() + delayMs;
    await this.#waitReporter.during(
      isSilent ? "throttled" : requestedMs === undefined ? "retry" : "retry-after",
      () => untilMs,
      () => clock.sleep(delayMs, signal),
    );
  }
}

const MAX_COOLDOWN_MS = 15 * 60_000;

/**
 * How long a run waits where the service asks for it: a longer cooldown, at once or in total without a success in
 * between, ends it. The service may rightly ask to wait for as long as it averages its limits over.
 */
export function longestWaitMs(windowMs: number): number {
  return Math.max(MAX_COOLDOWN_MS, windowMs);
}

export class Cooldown {
  readonly #clock: Clock;
  readonly #rateLimiter: Pick<RateLimiter, "windowMs" | "pauseUntil">;
  #untilMs: number;
  #isAsked = true;
  #totalMs = 0;
  #successes = 0;
  #failure: SyncError | undefined;

  constructor(clock: Clock, rateLimiter: Pick<RateLimiter, "windowMs" | "pauseUntil">) {
    this.#clock = clock;
    this.#rateLimiter = rateLimiter;
    this.#untilMs = clock.monotonicMs();
  }

  /** How many requests have succeeded so far. */
  get successes(): number {
    return this.#successes;
  }

  /** When it ends, by the monotonic clock. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** Whether the service named its end, and did not just refuse a request as one too many. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  get isOver(): boolean {
    return this.#remainingMs() === 0 && this.#failure === undefined;
  }

  /** No request is sent for `ms` from now. Throws `THROTTLED` if that is too long, then and for every later request. */
  extend(ms: number, status: number, { isAsked = true } = {}): void {
    const longerMs = Math.max(0, ms - this.#remainingMs());
    // Of the pauses that the service did not ask for, each request has a few only.
    if (isAsked) this.#totalMs += longerMs;
    if (longerMs > 0) {
      this.#untilMs = this.#clock.monotonicMs() + ms;
      this.#isAsked = isAsked;
    }
    const mostMs = longestWaitMs(this.#rateLimiter.windowMs);
    if (this.#totalMs > mostMs) {
      this.#failure = tooLong(ms, status, mostMs);
      throw this.#failure;
    }
    this.#rateLimiter.pauseUntil(this.#untilMs);
  }

  succeeded(): void {
    this.#successes += 1;
    this.#totalMs = 0;
  }

  /** Resolves when the cooldown is over. Another request may extend it right afterwards. */
  async wait(signal?: AbortSignal): Promise<void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const remainingMs = this.#remainingMs();
      if (remainingMs === 0) return;
      await this.#clock.sleep(remainingMs, signal);
    }
  }

  #remainingMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.monotonicMs());
  }
}

function tooLong(ms: number, status: number, mostMs: number): SyncError {
  const minutes = Math.floor(mostMs / 60_000);
  const seconds = Number.isFinite(ms) ? Math.ceil(ms / 1_000) : null;
  return new SyncError(
    "THROTTLED",
    `The service asks to wait (status ${status}) longer than the ${minutes} minutes that this client waits. Run again later. If ` +
      "it happens often, lower --requests-per-minute to what the service's operator allows you.",
    { fields: { status, seconds } },
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

/** Reports to the progress display what the run waits for while no request is under way. */
export interface Wait {
  /** The service asked for it; it refused a request as one too many; the rate limiter; the back-off after a failure. */
  readonly kind: "retry-after" | "throttled" | "budget" | "retry";
  /** By the monotonic clock. */
  readonly untilMs: number;
}

interface OpenWait {
  readonly kind: Wait["kind"];
  readonly untilMs: () => number;
}

/** The first kind among the open waits explains the others. */
const ORDER: readonly Wait["kind"][] = ["retry-after", "throttled", "budget", "retry"];

export class WaitReporter {
  readonly #open = new Set<OpenWait>();
  readonly #onWait: (wait: Wait | undefined) => void;
  #underWay = 0;
  #shown: Wait | undefined;

  constructor(onWait: (wait: Wait | undefined) => void = () => undefined) {
    this.#onWait = onWait;
  }

  /** Runs `work`, which is a wait. */
  async during<T>(kind: Wait["kind"], untilMs: () => number, work: () => Promise<T>): Promise<T> {
    const wait = { kind, untilMs };
    this.#open.add(wait);
    this.#show();
    try {
      return await work();
    } finally {
      this.#open.delete(wait);
      this.#show();
    }
  }

  /** While a request is under way, no wait is reported. */
  requestBegins(): void {
    this.#underWay += 1;
    this.#show();
  }

  requestEnds(): void {
    this.#underWay -= 1;
    this.#show();
  }

  #show(): void {
    const wait = this.#underWay > 0 ? undefined : this.#foremost();
    if (wait?.kind === this.#shown?.kind && wait?.untilMs === this.#shown?.untilMs) return;
    this.#shown = wait;
    this.#onWait(wait);
  }

  #foremost(): Wait | undefined {
    for (const kind of ORDER) {
      const ends = [...this.#open].filter((wait) => wait.kind === kind).map((wait) => wait.untilMs());
      if (ends.length > 0) return { kind, untilMs: Math.min(...ends) };
    }
    return undefined;
  }
}
