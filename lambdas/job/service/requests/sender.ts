// Sends one attempt as soon as nobody asks for quiet and the budget has room, and counts it.

import type { HttpResponse, Transport, TransportRequest } from "../http/transport.ts";
import type { Permit, RateLimiter, RequestKind } from "../rate-limit/rate-limiter.ts";
import type { Cooldown } from "./cooldown.ts";
import type { ServiceCounters } from "./service-counters.ts";
import type { WaitReporter } from "./wait-reporter.ts";

export interface SenderOptions {
  readonly transport: Transport;
  readonly rateLimiter: RateLimiter;
  readonly cooldown: Cooldown;
  readonly waits: WaitReporter;
  readonly counters: ServiceCounters;
}

/** Performs no retries and knows no credentials. */
export class Sender {
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Leave to send now: use it (or cancel it) at once. Throws `THROTTLED` or the signal's reason. */
  async admit(kind: RequestKind, signal: AbortSignal | undefined): Promise<Permit> {
    const { cooldown, rateLimiter, waits } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      if (!cooldown.isOver) {
        await waits.during(
          "retry-after",
          () => cooldown.untilMs,
          () => cooldown.wait(signal),
        );
      }
      const permit =
        rateLimiter.tryAcquire(kind) ??
        (await waits.during(
          "budget",
          () => rateLimiter.nextMs,
          () => rateLimiter.acquire(kind, signal),
        ));
      // While this request waited for the budget the service may have asked for quiet.
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
    const { transport, counters, waits } = this.#options;
    let bytes = 0;
    counters.add("requests");
    try {
      const answer = await waits.serving(() => transport.send(request, signal));
      bytes = answer.wireBytes;
      if (answer.status === 429) counters.add("throttled");
      return answer;
    } finally {
      counters.add("bytes", bytes);
      permit.settle(bytes);
    }
  }
}
