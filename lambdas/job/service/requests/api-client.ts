// Takes one request to its result: credentials, rate limit, cooldown, retries. Every retry is a whole new GET.

import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { Random } from "../../runtime/random.ts";
import type { Address } from "../endpoint.ts";
import { type BodySink, type HttpResponse, NoResponse, type TransportRequest } from "../http/transport.ts";
import { type ApiRequest, BodyPieces, type ReadResult, readResponse } from "./api-request.ts";
import type { Authenticator, Authorization } from "./authenticator.ts";
import {
  ATTEMPTS,
  attemptsExhausted,
  describeFailure,
  type Failure,
  permanentProblem,
  requestName,
  retryDelayMs,
  soonMs,
  statusClass,
  throttledDelayMs,
} from "./failure.ts";
import type { Cooldown, Sender, ServiceCounters, Wait, WaitReporter } from "./sender.ts";

interface ApiClientOptions extends BackOffOptions {
  readonly authenticator: Authenticator;
  readonly sender: Sender;
  readonly cooldown: Cooldown;
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
  /** What the service averages its limits over. */
  readonly limitWindowMs: number;
}

type Attempt<T> =
  | ReadResult<T>
  /** The credentials were refused. `renewed`: those to send the request again with. */
  | { readonly kind: "refused"; readonly renewed: Authorization | undefined }
  /** The credentials became stale while the request waited for permission to send. */
  | { readonly kind: "not-sent" };

export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #health = new ServiceHealth();

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  async get<T>(request: ApiRequest<T>, signal?: AbortSignal): Promise<T> {
    const { authenticator, cooldown } = this.#options;
    let failures = 0;
    let successes = cooldown.successes;
    let renewed: Authorization | undefined;
    for (;;) {
      const current = renewed ?? authenticator.authorize(signal);
      const authorization = current instanceof Promise ? await current : current;
      const attempt = await this.#attempt(request, authorization, signal);
      // A request sent again after a renewal is no retry and uses up no attempt.
      renewed = attempt.kind === "refused" ? attempt.renewed : undefined;
      if (attempt.kind === "value") {
        cooldown.succeeded();
        this.#health.succeeded();
        return attempt.value;
      }
      if (attempt.kind !== "failure") continue;
      // A 429 while other requests succeed is the price of sharing a limit, not a failure of this request.
      if (!isThrottled(attempt.failure) || cooldown.successes === successes) failures += 1;
      successes = cooldown.successes;
      await this.#backOff(request.url, attempt.failure, failures, signal);
    }
  }

  async #attempt<T>(
    request: ApiRequest<T>,
    authorization: Authorization,
    signal: AbortSignal | undefined,
  ): Promise<Attempt<T>> {
    const { clock, sender } = this.#options;
    const pieces = request.reader && new BodyPieces(request.reader());
    let response: HttpResponse;
    try {
      const permit = sender.tryAdmit(request.kind, signal) ?? (await sender.admit(request.kind, signal));
      if (!authorization.isCurrent) {
        permit.cancel();
        void authorization.settle({ kind: "unanswered" });
        return { kind: "not-sent" };
      }
      response = await sender.send(permit, this.#sent(request, authorization, pieces), signal);
    } catch (error) {
      void authorization.settle({ kind: "unanswered" });
      if (error instanceof NoResponse) {
        return {
          kind: "failure",
          failure: { kind: "no-response", reason: error.reason, proxy: error.proxy },
        };
      }
      throw error;
    }
    const setCookies = response.headers.get("set-cookie") ?? [];
    if (statusClass(response.status) === "renew") {
      return {
        kind: "refused",
        renewed: await authorization.settle({ kind: "refused", setCookies }, signal),
      };
    }
    void authorization.settle({ kind: "accepted", setCookies });
    return readResponse(request, response, clock.now(), pieces);
  }

  #sent<T>(
    { url, bodyCapBytes }: ApiRequest<T>,
    authorization: Authorization,
    sink: BodySink | undefined,
  ): TransportRequest {
    const headers = { ...this.#options.headers, ...authorization.headers(url) };
    return { method: "GET", url, headers, bodyCapBytes, ...(sink && { sink }) };
  }

  async #backOff(
    url: Address,
    failure: Failure,
    failures: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { cooldown, limitWindowMs, random } = this.#options;
    const requestedMs = failure.kind === "status" ? failure.retryAfterMs : undefined;
    const isSilent = requestedMs === undefined && isThrottled(failure);
    const ownMs = isSilent
      ? throttledDelayMs(failures, limitWindowMs, random)
      : requestedMs === undefined
        ? this.#delayMs(failures)
        : retryDelayMs(failures, random);
    const delayMs = Math.max(requestedMs ?? 0, ownMs);
    const isForAll = requestedMs !== undefined || isSilent;
    if (isForAll && failure.kind === "status") {
      cooldown.extend(requestedMs ?? delayMs, failure.status, { isAsked: !isSilent });
    }
    const waitsFor = isSilent ? "throttled" : isForAll ? "retry-after" : "retry";
    const request = requestName("GET", url);
    const attempt = { request, url: new URL(url.href), failure, failures, delayMs, waitsFor } as const;
    await backOff(attempt, this.#options, signal);
  }

  /** After a failure for which the service gave no reason. One that is alone is over sooner than a second. */
  #delayMs(failures: number): number {
    const { random } = this.#options;
    this.#health.failed();
    return failures === 1 && !this.#health.isStruggling ? soonMs(random) : retryDelayMs(failures, random);
  }
}

function isThrottled(failure: Failure): boolean {
  return failure.kind === "status" && failure.status === 429;
}

/** Whether a failed request is alone, or the service as a whole struggles. */
const REMEMBERED = 50;
/** A fifth. The requests in flight when a connection or a server dies are fewer, or soon outweighed. */
const MOST_FAILED = 10;

export class ServiceHealth {
  /** Of the last attempts, whether each failed: a ring. */
  readonly #failed: boolean[] = Array.from({ length: REMEMBERED }, () => false);
  #at = 0;
  #failures = 0;

  /** At least a fifth of the last 50 attempts failed. */
  get isStruggling(): boolean {
    return this.#failures >= MOST_FAILED;
  }

  /** A response came that is used, or that says what to do. */
  succeeded(): void {
    this.#add(false);
  }

  /** No usable response came, for no reason that the service gave. */
  failed(): void {
    this.#add(true);
  }

  #add(failed: boolean): void {
    this.#failures += Number(failed) - Number(this.#failed[this.#at]);
    this.#failed[this.#at] = failed;
    this.#at = (this.#at + 1) % REMEMBERED;
  }
}

/** Waits between a failed attempt and the next, counts and logs it; or ends the run when no attempt is left. */
export interface BackOffOptions {
  readonly waitReporter: WaitReporter;
  readonly counters: ServiceCounters;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface FailedAttempt {
  readonly request: string;
  readonly url: URL;
  readonly failure: Failure;
  /** How many attempts the request has used, this one included. */
  readonly failures: number;
  readonly delayMs: number;
  readonly waitsFor: Wait["kind"];
}

/** Throws `SERVICE_UNAVAILABLE` or `THROTTLED` after the last attempt or if no retry can succeed, or the signal's reason. */
export async function backOff(
  attempt: FailedAttempt,
  { waitReporter, counters, clock, logger }: BackOffOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { request, failure, failures, delayMs, waitsFor } = attempt;
  const permanent =
    failure.kind === "no-response" ? permanentProblem(attempt, failure, counters.hasResponded) : undefined;
  if (permanent !== undefined) throw permanent;
  if (failures >= ATTEMPTS) throw attemptsExhausted(request, failure);
  counters.add("retries");
  const seconds = (delayMs / 1_000).toFixed(delayMs < 100 ? 2 : 1);
  logger.debug(`${request}: ${describeFailure(failure)}; next attempt in ${seconds} s`, {
    request,
    failures,
    delayMs,
  });
  const untilMs = clock.monotonicMs() + delayMs;
  await waitReporter.during(
    waitsFor,
    () => untilMs,
    () => clock.sleep(delayMs, signal),
  );
}
