// Holds every request back while the service asks for quiet.

import { SyncError } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";

/** More quiet than this, at once or added up without a success in between, ends the run. */
const MAX_PAUSE_MS = 15 * 60_000;

export class Cooldown {
  readonly #clock: Clock;
  #untilMs: number;
  #askedMs = 0;
  #successes = 0;
  #failure: SyncError | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#untilMs = clock.monotonicMs();
  }

  /** How many requests have been answered to the full so far. */
  get successes(): number {
    return this.#successes;
  }

  /** By the monotonic clock. */
  get untilMs(): number {
    return this.#untilMs;
  }

  get isOver(): boolean {
    return this.#remainingMs() === 0 && this.#failure === undefined;
  }

  /** Nobody sends for `ms` from now. Throws `THROTTLED`, now and for everybody later, when that is too much. */
  extend(ms: number, status: number): void {
    const longerMs = Math.max(0, ms - this.#remainingMs());
    this.#askedMs += longerMs;
    if (longerMs > 0) this.#untilMs = this.#clock.monotonicMs() + ms;
    if (this.#askedMs <= MAX_PAUSE_MS) return;
    this.#failure = tooLong(ms, status);
    throw this.#failure;
  }

  succeeded(): void {
    this.#successes += 1;
    this.#askedMs = 0;
  }

  /** Resolves when nobody asks for quiet; another request may find it asked for again right afterwards. */
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

function tooLong(ms: number, status: number): SyncError {
  const seconds = Number.isFinite(ms) ? Math.ceil(ms / 1_000) : null;
  return new SyncError(
    "THROTTLED",
    `The service asks for more quiet (status ${status}) than the 15 minutes this client waits. Run again later; if ` +
      "it happens often, lower --requests-per-minute to what the service's operator allows you.",
    { fields: { status, seconds } },
  );
}
