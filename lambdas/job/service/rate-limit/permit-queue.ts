// The requests that wait for a permit, first come, first served.

import type { Clock } from "../../runtime/clock.ts";
import type { Permit, RequestKind } from "./permit.ts";

export interface PermitQueueOptions {
  readonly clock: Clock;
  /** Undefined while there is none for a request of this kind. */
  readonly permit: (kind: RequestKind) => Permit | undefined;
  /** When it is worth asking again, by the monotonic clock; undefined where only the end of a request can tell. */
  readonly nextMs: () => number | undefined;
}

/** A request that waits for its permit. */
interface Waiter {
  readonly kind: RequestKind;
  readonly grant: (permit: Permit) => void;
}

export class PermitQueue {
  readonly #options: PermitQueueOptions;
  readonly #waiters: Waiter[] = [];
  #alarm: AbortController | undefined;

  constructor(options: PermitQueueOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#waiters.length;
  }

  /** Rejects with the signal's reason. */
  wait(kind: RequestKind, signal?: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal?.reason);
        this.serve();
      };
      const waiter: Waiter = {
        kind,
        grant: (permit) => {
          signal?.removeEventListener("abort", leave);
          resolve(permit);
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiters.push(waiter);
      this.serve();
    });
  }

  /** Gives the requests at the front what is there now. */
  serve(): void {
    for (let next = this.#waiters[0]; next !== undefined; next = this.#waiters[0]) {
      const permit = this.#options.permit(next.kind);
      if (permit === undefined) {
        this.#wakeLater();
        return;
      }
      this.#waiters.shift();
      next.grant(permit);
    }
    this.#alarm?.abort();
    this.#alarm = undefined;
  }

  // One alarm for all. If the window is empty, a request is in flight, and its end serves the next.
  #wakeLater(): void {
    const { clock, nextMs } = this.#options;
    const atMs = nextMs();
    if (atMs === undefined || this.#alarm !== undefined) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    clock.sleep(Math.max(1, atMs - clock.monotonicMs()), alarm.signal).then(
      () => {
        this.#alarm = undefined;
        this.serve();
      },
      () => undefined, // aborted: no request waits any more
    );
  }
}
