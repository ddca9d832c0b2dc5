// Requests the first details while the plan is written: until then nothing may be staged, and the network would be idle.

import { onAbort } from "../../runtime/on-abort.ts";
import type { Detail, ListedEvent } from "../../service/event-service.ts";
import { fitsRow } from "../../snapshot/rows/row-size.ts";
import type { CountingService } from "../run-ports.ts";

/** What a collection needs of the service. */
export type DetailService = Pick<CountingService, "detail" | "counts">;

export interface FirstDetailsOptions {
  readonly service: DetailService;
  /** In the order of the plan. */
  readonly events: Iterable<ListedEvent>;
  /** How many are requested at once, and no more than these. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

interface Requested {
  readonly detail: Promise<Detail>;
  readonly stop: AbortController;
}

/**
 * The service, which has sent the first requests already: the call that asks for one of these details gets its answer or
 * its error. The first call for another one ends what was not asked for, which is where another process has written
 * another plan. Writes nothing. Dispose of it: it leaves no request under way.
 */
export class FirstDetails implements DetailService, AsyncDisposable {
  readonly #service: DetailService;
  readonly #signal: AbortSignal;
  readonly #waiting = new Map<string, Requested>();
  /** The ends of all requests. They hold no detail: it would stay in memory as long as the collection. */
  readonly #ends: readonly Promise<void>[];

  constructor({ service, events, concurrency, signal }: FirstDetailsOptions) {
    this.#service = service;
    this.#signal = signal;
    // An event whose listing alone is too long is left out unfetched.
    const first = Iterator.from(events)
      .take(concurrency)
      .filter(({ listing }) => fitsRow({ listing }));
    this.#ends = Array.from(first, ({ requestAs }) => this.#request(requestAs));
  }

  detail(requestAs: string, signal?: AbortSignal): Promise<Detail> {
    const requested = this.#waiting.get(requestAs);
    if (requested === undefined) {
      if (this.#waiting.size > 0) this.#stop();
      return this.#service.detail(requestAs, signal);
    }
    this.#waiting.delete(requestAs);
    return signal === undefined ? requested.detail : stoppable(requested, signal);
  }

  get counts(): DetailService["counts"] {
    return this.#service.counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    await Promise.all(this.#ends);
  }

  #request(requestAs: string): Promise<void> {
    const stop = new AbortController();
    const detail = this.#service.detail(requestAs, AbortSignal.any([this.#signal, stop.signal]));
    this.#waiting.set(requestAs, { detail, stop });
    const ended = (): void => undefined; // a failure counts for the call that asks for it
    return detail.then(ended, ended);
  }

  /** Ends the requests that nothing has asked for. */
  #stop(): void {
    for (const { stop } of this.#waiting.values()) stop.abort();
    this.#waiting.clear();
  }
}

async function stoppable({ detail, stop }: Requested, signal: AbortSignal): Promise<Detail> {
  if (signal.aborted) stop.abort(signal.reason);
  const leave = onAbort(signal, (reason) => stop.abort(reason));
  try {
    return await detail;
  } finally {
    leave();
  }
}
