// Where collecting stops: at the edge of a shard, when the time left does not cover the next one.

import type { TimeBudget } from "./time-budget.ts";

export interface ShardGateOptions {
  readonly timeBudget: TimeBudget;
  /** Events of the whole plan. */
  readonly total: number;
  /** Events of a shard that must be fetched: those that an earlier start has kept cost no time. */
  readonly toFetch: (index: number) => number;
}

/** Requests run ahead of the shard that is being written: whichever comes to a shard first decides for both. */
export class ShardGate {
  readonly #options: ShardGateOptions;
  readonly #begun = new Set<number>();
  /** Events of shards that have begun, which are not done yet. */
  #open = 0;
  #done = 0;
  #isReached = false;

  constructor(options: ShardGateOptions) {
    this.#options = options;
  }

  mayBegin(index: number): boolean {
    if (this.#begun.has(index)) return true;
    const { timeBudget, toFetch } = this.#options;
    const events = toFetch(index);
    this.#isReached ||= !timeBudget.covers(this.#open + events);
    if (this.#isReached) return false;
    this.#begun.add(index);
    this.#open += events;
    return true;
  }

  taken(): void {
    this.#open -= 1;
    this.#done += 1;
    this.#options.timeBudget.advance(1);
  }

  /** How far the plan is, with what an earlier start has left. */
  describe(missing: readonly number[]): string {
    const { total, toFetch } = this.#options;
    const wanted = missing.reduce((sum, index) => sum + toFetch(index), 0);
    return `${total - wanted + this.#done} of ${total} events are staged`;
  }
}
