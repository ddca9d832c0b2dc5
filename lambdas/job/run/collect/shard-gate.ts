// Which shards a start works on: all that are missing, or as many as time and budget cover.

import { StoppedEarly } from "./stopped-early.ts";
import type { TimeBudget } from "./time-budget.ts";

export interface ShardGateOptions {
  readonly timeBudget: TimeBudget;
  /** Events of the whole plan. */
  readonly total: number;
  /** Indices of the shards that are not staged, in order. */
  readonly missing: readonly number[];
  /** Events of a shard that must be fetched: those that an earlier start has kept cost no time. */
  readonly toFetch: (index: number) => number;
}

/**
 * Yields the shards to work on, to each of its iterators the same ones. Requests run ahead of the shard that is being
 * written: the iterator that reaches a shard first decides for both.
 */
export class ShardGate implements Iterable<number> {
  readonly #options: ShardGateOptions;
  /** How many of the missing shards have begun. */
  #begun = 0;
  /** Events of begun shards that are not done yet. */
  #open = 0;
  #done = 0;
  /** Why no further shard begins. */
  #stop: ReturnType<TimeBudget["stopBefore"]>;

  constructor(options: ShardGateOptions) {
    this.#options = options;
  }

  *[Symbol.iterator](): Generator<number, void> {
    for (const [position, index] of this.#options.missing.entries()) {
      if (position >= this.#begun && !this.#begin(index)) return;
      yield index;
    }
  }

  /** One event of a begun shard is fetched and taken. */
  advance(): void {
    this.#open -= 1;
    this.#done += 1;
    this.#options.timeBudget.advance(1);
  }

  /** Throws `StoppedEarly` where time or budget did not cover all shards. */
  throwIfClosed(): void {
    if (this.#stop === undefined) return;
    const { total, missing, toFetch } = this.#options;
    const wanted = missing.reduce((sum, index) => sum + toFetch(index), 0);
    const soFar = `${total - wanted + this.#done} of ${total} events are staged`;
    throw new StoppedEarly({ ...this.#stop, soFar });
  }

  #begin(index: number): boolean {
    const { timeBudget, toFetch } = this.#options;
    const events = toFetch(index);
    this.#stop ??= timeBudget.stopBefore(this.#open + events, events);
    if (this.#stop) return false;
    this.#begun += 1;
    this.#open += events;
    return true;
  }
}
