// Takes one request to its answer: credentials, budget, pauses, retries; every retry is a whole new GET.

import type { Random } from "../../runtime/random.ts";
import type { Authenticator, Pass } from "../auth/authenticator.ts";
import { type HttpResponse, NoResponse } from "../http/transport.ts";
import { type ApiRequest, type Outcome, outcomeOf } from "./api-request.ts";
import { type BackOffOptions, backOff } from "./back-off.ts";
import type { Cooldown } from "./cooldown.ts";
import { type Failure, requestName } from "./failure.ts";
import { retryDelayMs, statusClass } from "./retry.ts";
import type { Sender } from "./sender.ts";

export interface ApiClientOptions extends BackOffOptions {
  readonly authenticator: Authenticator;
  readonly sender: Sender;
  readonly cooldown: Cooldown;
  readonly headers: Readonly<Record<string, string>>;
  readonly random: Random;
}

export class ApiClient {
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  async get<T>(request: ApiRequest<T>, signal?: AbortSignal): Promise<T> {
    const { authenticator, cooldown } = this.#options;
    let failures = 0;
    let successes = cooldown.successes;
    let pass = await authenticator.pass(signal);
    try {
      for (;;) {
        if (!pass.isCurrent) pass = await authenticator.pass(signal);
        const answer = await this.#attempt(request, pass, signal);
        if (answer === undefined) continue;
        // A request sent again after a renewal is no retry and uses up no attempt.
        if (!(answer instanceof NoResponse) && statusClass(answer.status) === "renew") {
          pass = await pass.refused(signal);
          continue;
        }
        const outcome = this.#judge(request, pass, answer);
        if ("value" in outcome) {
          cooldown.succeeded();
          return outcome.value;
        }
        // A 429 while others get through is the price of sharing a limit, not a failure of this request.
        if (!isThrottled(outcome.failure) || cooldown.successes === successes) failures += 1;
        successes = cooldown.successes;
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
  ): Promise<HttpResponse | NoResponse | undefined> {
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
      if (error instanceof NoResponse) return error;
      throw error;
    }
  }

  #judge<T>(request: ApiRequest<T>, pass: Pass, answer: HttpResponse | NoResponse): Outcome<T> {
    if (answer instanceof NoResponse) {
      pass.release();
      return { failure: { kind: "no-response", reason: answer.reason } };
    }
    pass.accepted();
    return outcomeOf(request, answer, this.#options.clock.now());
  }

  async #backOff(
    request: string,
    failure: Failure,
    failures: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { cooldown, random } = this.#options;
    const askedMs = failure.kind === "status" ? failure.retryAfterMs : undefined;
    const delayMs = Math.max(askedMs ?? 0, retryDelayMs(failures, random));
    const forAll = askedMs !== undefined || isThrottled(failure);
    if (forAll && failure.kind === "status") cooldown.extend(askedMs ?? delayMs, failure.status);
    const waitsFor = forAll ? "retry-after" : "retry";
    await backOff({ request, failure, failures, delayMs, waitsFor }, this.#options, signal);
  }
}

function isThrottled(failure: Failure): boolean {
  return failure.kind === "status" && failure.status === 429;
}
