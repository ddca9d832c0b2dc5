// Takes one request to its result: credentials, rate limit, cooldown, retries. Every retry is a whole new GET.

import type { Random } from "../../runtime/random.ts";
import type { Address } from "../endpoint.ts";
import { type BodySink, type HttpResponse, NoResponse, type TransportRequest } from "../http/transport.ts";
import { type ApiRequest, type ReadResult, readResponse } from "./api-request.ts";
import type { Authenticator, Authorization } from "./authenticator.ts";
import { type BackOffOptions, backOff } from "./back-off.ts";
import { BodyPieces } from "./body-pieces.ts";
import type { Cooldown } from "./cooldown.ts";
import { type Failure, requestName } from "./failure.ts";
import { retryDelayMs, soonMs, statusClass, throttledDelayMs } from "./retry.ts";
import type { Sender } from "./sender.ts";
import { ServiceHealth } from "./service-health.ts";

export interface ApiClientOptions extends BackOffOptions {
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
