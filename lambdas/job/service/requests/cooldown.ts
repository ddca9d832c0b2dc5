// Holds all requests back while the service asks to wait (RFC 9110 §10.2.3).

import { SyncError } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";

/** A longer cooldown, at once or in total without a success in between, ends the run. */
const MAX_COOLDOWN_MS = 15 * 60_000;

export interface CooldownOptions {
  /** What the service averages its limits over: it may rightly ask to wait for so long. */
  readonly limitWindowMs?: number;
  /** Called with its end, by the monotonic clock, whenever the service asks to wait. */
  readonly onExtend?: (untilMs: number) => void;
}

export class Cooldown {
  readonly #clock: Clock;
  readonly #mostMs: number;
  readonly #onExtend: (untilMs: number) => void;
  #untilMs: number;
  #isAsked = true;
  #totalMs = 0;
  #successes = 0;
  #failure: SyncError | undefined;

  constructor(clock: Clock, { limitWindowMs = 0, onExtend = () => undefined }: CooldownOptions = {}) {
    this.#clock = clock;
    this.#mostMs = Math.max(MAX_COOLDOWN_MS, limitWindowMs);
    this.#onExtend = onExtend;
    this.#untilMs = clock.monotonicMs();
  }

  /** How many requests have succeeded so far. */
  get successes(): number {
    return this.#successes;
  }

  /** When it ends, by the monotonic clock. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** Whether the service named its end, and did not just refuse a request as one too many. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  get isOver(): boolean {
    return this.#remainingMs() === 0 && this.#failure === undefined;
  }

  /** No request is sent for `ms` from now. Throws `THROTTLED` if that is too long, then and for every later request. */
  extend(ms: number, status: number, { isAsked = true } = {}): void {
    const longerMs = Math.max(0, ms - this.#remainingMs());
    this.#totalMs += longerMs;
    if (longerMs > 0) {
      this.#untilMs = this.#clock.monotonicMs() + ms;
      this.#isAsked = isAsked;
    }
    if (this.#totalMs > this.#mostMs) {
      this.#failure = tooLong(ms, status, this.#mostMs);
      throw this.#failure;
    }
    this.#onExtend(this.#untilMs);
  }

  succeeded(): void {
    this.#successes += 1;
    this.#totalMs = 0;
  }

  /** Resolves when the cooldown is over. Another request may extend it right afterwards. */
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

function tooLong(ms: number, status: number, mostMs: number): SyncError {
  const minutes = Math.floor(mostMs / 60_000);
  const seconds = Number.isFinite(ms) ? Math.ceil(ms / 1_000) : null;
  return new SyncError(
    "THROTTLED",
    `The service asks to wait (status ${status}) longer than the ${minutes} minutes that this client waits. Run again later. If ` +
      "it happens often, lower --requests-per-minute to what the service's operator allows you.",
    { fields: { status, seconds } },
  );
}
