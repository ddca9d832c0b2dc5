// Decides whether a failed task is tried again, and after how long. Its counts last as long as the execution is in the
// state.

import type { Retrier } from "./definition.ts";

export class Retries {
  readonly #retriers: readonly Retrier[];
  /** Between 0 and 1. */
  readonly #random: () => number;
  readonly #attempts = new Map<Retrier, number>();

  constructor(retriers: readonly Retrier[], random: () => number) {
    this.#retriers = retriers;
    this.#random = random;
  }

  /** The wait before the next attempt; undefined if the error is not retried, or not any more. */
  delayMs(error: string): number | undefined {
    const retrier = this.#retriers.find(({ ErrorEquals }) => ErrorEquals.includes(error));
    if (retrier === undefined) return undefined;
    const done = this.#attempts.get(retrier) ?? 0;
    if (done >= retrier.MaxAttempts) return undefined;
    this.#attempts.set(retrier, done + 1);
    const {
      IntervalSeconds,
      BackoffRate,
      MaxDelaySeconds = Number.POSITIVE_INFINITY,
      JitterStrategy,
    } = retrier;
    const seconds = Math.min(IntervalSeconds * BackoffRate ** done, MaxDelaySeconds);
    return seconds * 1000 * (JitterStrategy === "FULL" ? this.#random() : 1);
  }
}
