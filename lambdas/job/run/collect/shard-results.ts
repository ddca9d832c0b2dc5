// The results of one shard in plan order: kept by an earlier start, or fetched now.

import type { PartialShards } from "../../snapshot/staging/partial-shards.ts";
import type { PlannedEvent } from "../../snapshot/staging/plan.ts";
import type { StagedResult } from "../../snapshot/staging/staged-result.ts";

export interface ShardResultsOptions {
  /** The events of the shard. */
  readonly events: readonly PlannedEvent[];
  /** The results of all events that are not kept, in order; stays open for the shards after this one. */
  readonly fetched: AsyncGenerator<StagedResult, void>;
  readonly kept: PartialShards;
  readonly onFetched: () => void;
}

export class ShardResults implements AsyncIterable<StagedResult> {
  readonly #options: ShardResultsOptions;
  #taken = 0;
  #fetched = 0;

  constructor(options: ShardResultsOptions) {
    this.#options = options;
  }

  /** How many results were fetched, and taken, so far. */
  get fetched(): number {
    return this.#fetched;
  }

  [Symbol.asyncIterator](): AsyncIterator<StagedResult, void> {
    return { next: () => this.#next() };
  }

  /**
   * The other finished results once no more is fetched, in plan order: those that waited for an older one, and kept ones.
   * @param planned the events of this shard and of those after it
   */
  async *rest(
    untaken: readonly StagedResult[],
    planned: Iterable<PlannedEvent>,
  ): AsyncGenerator<StagedResult> {
    const { kept } = this.#options;
    const waiting = new Map(untaken.map((result) => [result.uuid, result]));
    for (const { uuid } of Iterator.from(planned).drop(this.#taken)) {
      const result = waiting.get(uuid);
      if (result) yield result;
      else if (kept.has(uuid)) yield await kept.take(uuid);
      waiting.delete(uuid);
      if (waiting.size === 0 && kept.size === 0) return;
    }
  }

  async #next(): Promise<IteratorResult<StagedResult, void>> {
    const { events, fetched, kept, onFetched } = this.#options;
    const event = events[this.#taken];
    if (event === undefined) return { done: true, value: undefined };
    if (kept.has(event.uuid)) {
      const value = await kept.take(event.uuid);
      this.#taken += 1;
      return { done: false, value };
    }
    const next = await fetched.next();
    if (next.done === true) return next;
    this.#taken += 1;
    this.#fetched += 1;
    onFetched();
    return next;
  }
}
