// Work on many items at once, results in the order of the items, within bounds.

import { OrderedResults } from "./ordered-results.ts";

export interface OrderedOptions<Result> {
  /** How many items are worked on at the same time. */
  readonly concurrency: number;
  /** How many items may be started before the consumer takes the oldest one that is finished. */
  readonly ahead: number;
  /** How much of results may wait, also for an older one, in the unit of `weigh`; above it nothing new is started. */
  readonly maxWeight: number;
  readonly weigh: (result: Result) => number;
  readonly signal: AbortSignal;
  /** Called at the end, before a failure is thrown, with the results that were finished but not taken, in the order of their items. */
  readonly onUntaken?: (results: readonly Result[]) => void;
}

/**
 * Yields `work(item)` for each item in order; its place is counted from 0. Keeps working ahead while the consumer is busy, and while an item takes
 * longer than those after it, so neither causes a stall until a bound is reached. The first failure aborts everything
 * under way, waits for it to end, and is thrown as it came; so does a consumer that stops early.
 */
export async function* mapOrdered<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item, signal: AbortSignal, place: number) => Promise<Result>,
  options: OrderedOptions<Result>,
): AsyncGenerator<Result, void, undefined> {
  const { concurrency, ahead, maxWeight, weigh } = options;
  const stop = new AbortController();
  const source = items[Symbol.iterator]();
  const results = new OrderedResults<Result>();
  let running = 0;
  let exhausted = false;
  let failure: { readonly error: unknown } | undefined;
  let wake = (): void => undefined;

  const fail = (error: unknown): void => {
    failure ??= { error };
    stop.abort();
    wake();
  };
  const run = async (item: Item, place: number): Promise<void> => {
    try {
      const value = await work(item, stop.signal, place);
      results.finish(place, value, weigh(value));
    } catch (error) {
      fail(error);
    }
    running -= 1;
    pump();
    wake();
  };
  const hasRoom = (): boolean =>
    running < concurrency && results.ready + running < ahead && results.weight < maxWeight;
  const pump = (): void => {
    try {
      while (!exhausted && !failure && hasRoom()) {
        const next = source.next();
        if (next.done) {
          exhausted = true;
          return;
        }
        running += 1;
        void run(next.value, results.begin());
      }
    } catch (error) {
      fail(error); // the items may throw too
    }
  };
  const onAbort = (): void => {
    const { reason } = options.signal;
    stop.abort(reason);
    fail(reason);
  };
  options.signal.addEventListener("abort", onAbort, { once: true });

  try {
    options.signal.throwIfAborted();
    pump();
    while (results.length > 0) {
      if (failure) throw failure.error;
      const result = results.take();
      if (result === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      pump();
      yield result.value;
    }
    if (failure) throw failure.error;
  } finally {
    options.signal.removeEventListener("abort", onAbort);
    exhausted = true;
    stop.abort();
    while (running > 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    options.onUntaken?.(results.rest());
  }
}
