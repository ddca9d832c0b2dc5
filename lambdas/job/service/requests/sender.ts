// Sends one attempt as soon as cooldown and rate limiter permit it, and counts it.

import type { HttpResponse, Transport, TransportRequest } from "../http/transport.ts";
import type { Permit, RequestKind } from "../rate-limit/permit.ts";
import type { RateLimiter } from "../rate-limit/rate-limiter.ts";
import type { Cooldown } from "./cooldown.ts";
import type { ServiceCounters } from "./service-counters.ts";
import type { WaitReporter } from "./wait-reporter.ts";

export interface SenderOptions {
  readonly transport: Transport;
  readonly rateLimiter: RateLimiter;
  readonly cooldown: Cooldown;
  readonly waitReporter: WaitReporter;
  readonly counters: ServiceCounters;
}

/** Performs no retries and adds no credentials. */
export class Sender {
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** As `admit`, where nothing is in the way. */
  tryAdmit(kind: RequestKind, signal: AbortSignal | undefined): Permit | undefined {
    signal?.throwIfAborted();
    const { cooldown, rateLimiter } = this.#options;
    return cooldown.isOver ? rateLimiter.tryAcquire(kind) : undefined;
  }

  /** Permission to send one request now: use or cancel it at once. Throws `THROTTLED` or the signal's reason. */
  async admit(kind: RequestKind, signal: AbortSignal | undefined): Promise<Permit> {
    const { cooldown, rateLimiter, waitReporter } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      if (!cooldown.isOver) {
        await waitReporter.during(
          cooldown.isAsked ? "retry-after" : "throttled",
          () => cooldown.untilMs,
          () => cooldown.wait(signal),
        );
      }
      const permit =
        rateLimiter.tryAcquire(kind) ??
        (await waitReporter.during(
          "budget",
          () => rateLimiter.freeAtMs(1),
          () => rateLimiter.acquire(kind, signal),
        ));
      // A cooldown may have begun while this request waited for the rate limiter.
      if (cooldown.isOver) return permit;
      permit.cancel();
    }
  }

  /** Throws `NoResponse` or the signal's reason. */
  async send(
    permit: Permit,
    request: TransportRequest,
    signal: AbortSignal | undefined,
  ): Promise<HttpResponse> {
    const { transport, counters, waitReporter } = this.#options;
    let bytes = 0;
    counters.add("requests");
    waitReporter.requestBegins();
    try {
      const response = await transport.send(request, signal);
      counters.responded();
      const { body, decodedBytes } = response;
      // The service may have counted the whole of a body that broke off.
      bytes = body.kind === "broken" ? Math.max(decodedBytes, permit.expectedBytes) : decodedBytes;
      if (response.status === 429) counters.add("throttled");
      return response;
    } finally {
      waitReporter.requestEnds();
      counters.add("bytes", bytes);
      permit.settle(bytes);
    }
  }
}
