// The requests that wait for a permit, first come, first served.

import type { Clock } from "../../runtime/clock.ts";

interface PermitQueueOptions<Kind, Permit> {
  readonly clock: Clock;
  /** Undefined while there is none for a request of this kind. */
  readonly permit: (kind: Kind) => Permit | undefined;
  /** When it is worth asking again, by the monotonic clock; undefined where only the end of a request can tell. */
  readonly nextMs: () => number | undefined;
}

interface Waiter<Kind, Permit> {
  readonly kind: Kind;
  readonly grant: (permit: Permit) => void;
}

export class PermitQueue<Kind, Permit> {
  readonly #options: PermitQueueOptions<Kind, Permit>;
  readonly #waiters: Waiter<Kind, Permit>[] = [];
  #alarm: AbortController | undefined;

  constructor(options: PermitQueueOptions<Kind, Permit>) {
    this.#options = options;
  }

  get length(): number {
    return this.#waiters.length;
  }

  /** Rejects with the signal's reason. */
  wait(kind: Kind, signal?: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal?.reason);
        this.serve();
      };
      const waiter: Waiter<Kind, Permit> = {
        kind,
        grant: (permit) => {
          signal?.removeEventListener("abort", leave);
          resolve(permit);
        },
      };
      signal?.addEventListener("abort", leave);
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
