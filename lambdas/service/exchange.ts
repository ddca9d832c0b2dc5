// Takes one request to its answer: credentials, budget, pauses, retries; every retry is a whole new GET.

import { SyncError } from "../errors/sync-error.ts";
import type { Clock } from "../host/clock.ts";
import type { Logger } from "../host/logger.ts";
import type { Random } from "../host/random.ts";
import type { Authenticator, Pass } from "./authenticator.ts";
import type { BudgetKind } from "./budget.ts";
import { describeFailure, type Failure, requestName, spent, UnusableBody } from "./failure.ts";
import type { Pause } from "./pause.ts";
import { redirected } from "./redirect.ts";
import { ATTEMPTS, retryAfterMs, retryDelayMs, statusClass } from "./retry.ts";
import type { Sender } from "./sender.ts";
import type { ServiceCounters } from "./service-counters.ts";
import { type Answer, NoAnswer } from "./transport.ts";
import type { Waits } from "./waits.ts";

/** One GET and what its answers mean. */
export interface ApiRequest<T> {
  readonly url: URL;
  readonly kind: BudgetKind;
  readonly bodyCapBytes: number;
  /** Reads a whole 2xx body. Throws `UnusableBody` where a new attempt may mend it, `SyncError` where none does. */
  read(bytes: Uint8Array, headers: Answer["headers"]): T;
  /** What a body over the cap means. */
  oversize(): T;
  /** What a status means that is neither 2xx nor 3xx, 401 or one to retry. Throws `SyncError` to end the run. */
  refused(status: number): T;
}

export interface ExchangeOptions {
  readonly authenticator: Authenticator;
  readonly sender: Sender;
  readonly pause: Pause;
  readonly waits: Waits;
  readonly counters: ServiceCounters;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

type Outcome<T> = { readonly value: T } | { readonly failure: Failure };

export class Exchange {
  readonly #options: ExchangeOptions;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  async get<T>(request: ApiRequest<T>, signal?: AbortSignal): Promise<T> {
    const { authenticator, pause } = this.#options;
    let failures = 0;
    let successes = pause.successes;
    let pass = await authenticator.pass(signal);
    try {
      for (;;) {
        if (!pass.isCurrent) pass = await authenticator.pass(signal);
        const answer = await this.#attempt(request, pass, signal);
        if (answer === undefined) continue;
        // A request sent again after a renewal is no retry and uses up no attempt.
        if (!(answer instanceof NoAnswer) && statusClass(answer.status) === "renew") {
          pass = await pass.refused(signal);
          continue;
        }
        const outcome = this.#judge(request, pass, answer);
        if ("value" in outcome) {
          pause.succeeded();
          return outcome.value;
        }
        // A 429 while others get through is the price of sharing a limit, not a failure of this request.
        if (!isThrottled(outcome.failure) || pause.successes === successes) failures += 1;
        successes = pause.successes;
        await this.#backOff(requestName("GET", request.url), outcome.failure, failures, signal);
        pass = await authenticator.pass(signal);
      }
    } finally {
      pass.release();
    }
  }

  /** One answer, its absence, or undefined where the pass went stale before anything was sent. */
  async #attempt<T>(
    request: ApiRequest<T>,
    pass: Pass,
    signal: AbortSignal | undefined,
  ): Promise<Answer | NoAnswer | undefined> {
    const { url, kind, bodyCapBytes } = request;
    const { headers, sender } = this.#options;
    const permit = await sender.admit(kind, signal);
    if (!pass.isCurrent) {
      permit.cancel();
      return undefined;
    }
    const sent = { method: "GET", url, headers: { ...headers, ...pass.headers(url) }, bodyCapBytes } as const;
    try {
      const answer = await sender.send(permit, sent, signal);
      pass.keep(answer.headers.get("set-cookie") ?? []);
      return answer;
    } catch (error) {
      if (error instanceof NoAnswer) return error;
      throw error;
    }
  }

  #judge<T>(request: ApiRequest<T>, pass: Pass, answer: Answer | NoAnswer): Outcome<T> {
    if (answer instanceof NoAnswer) {
      pass.release();
      return { failure: { kind: "no-answer", reason: answer.reason } };
    }
    pass.accepted();
    const { status, headers } = answer;
    switch (statusClass(status)) {
      case "read":
        return readBody(request, answer);
      case "retry":
        return {
          failure: { kind: "status", status, retryAfterMs: retryAfterMs(headers, this.#options.clock.now()) },
        };
      case "redirect":
        throw redirected(requestName("GET", request.url), request.url, answer);
      default:
        return { value: request.refused(status) };
    }
  }

  async #backOff(
    name: string,
    failure: Failure,
    failures: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { clock, counters, logger, pause, random, waits } = this.#options;
    const askedMs = failure.kind === "status" ? failure.retryAfterMs : undefined;
    const delayMs = Math.max(askedMs ?? 0, retryDelayMs(failures, random));
    const forAll = askedMs !== undefined || isThrottled(failure);
    if (forAll && failure.kind === "status") pause.ask(askedMs ?? delayMs, failure.status);
    if (failures >= ATTEMPTS) throw spent(name, failure);
    counters.add("retries");
    logger.info(`${name}: ${describeFailure(failure)}; next attempt in ${(delayMs / 1_000).toFixed(1)} s`, {
      request: name,
      failures,
      delayMs,
    });
    const untilMs = clock.now() + delayMs;
    await waits.during(
      forAll ? "retry-after" : "retry",
      () => untilMs,
      () => clock.sleep(delayMs, signal),
    );
  }
}

function isThrottled(failure: Failure): boolean {
  return failure.kind === "status" && failure.status === 429;
}

function readBody<T>(request: ApiRequest<T>, answer: Answer): Outcome<T> {
  switch (answer.body.kind) {
    case "whole":
      try {
        return { value: request.read(answer.body.bytes, answer.headers) };
      } catch (error) {
        if (!(error instanceof UnusableBody)) throw error;
        return { failure: { kind: "body", why: error.message, remedy: error.remedy } };
      }
    case "oversize":
      return { value: request.oversize() };
    case "foreign":
      throw foreignEncoding(requestName("GET", request.url));
    case "broken":
      return {
        failure: {
          kind: "body",
          why: `a body that broke off (${answer.body.cause})`,
          remedy: "Check the network between here and the service.",
        },
      };
    case "unread":
      throw new TypeError("a 2xx body was not read"); // the transport's contract
  }
}

function foreignEncoding(request: string): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${request} was answered in a content encoding that was not asked for (accepted: gzip, br). Look for a proxy ` +
      "between here and the service that changes it.",
    { fields: { request } },
  );
}
