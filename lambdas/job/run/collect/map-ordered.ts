// Work on many items at once, results in the order of the items, within bounds.

export interface OrderedOptions<Result> {
  /** How many items are worked on at the same time. */
  readonly concurrency: number;
  /** How many items may be started before the consumer takes the oldest one that is finished. */
  readonly ahead: number;
  /** How much of results may wait, also for an older one, in the unit of `weigh`; above it nothing new is started. */
  readonly maxWeight: number;
  readonly weigh: (result: Result) => number;
  readonly signal: AbortSignal;
}

/**
 * Yields `work(item)` for each item in order; its place is counted from 0. Keeps working ahead while the consumer is busy, and while an item takes
 * longer than those after it, so neither causes a stall until a bound is reached. The first failure aborts everything
 * under way, waits for it to end, and is thrown as it came, after the results before it that are finished; so does a consumer
 * that stops early.
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
      const result = results.take();
      if (result === undefined) {
        if (failure) throw failure.error;
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
  }
}

interface Finished<Result> {
  readonly value: Result;
  readonly weight: number;
}

/** So many empty places at the front are given back at once. */
const MAX_TAKEN = 1_000;

class OrderedResults<Result> {
  #places: (Finished<Result> | undefined)[] = [];
  /** The number of the first place. */
  #first = 0;
  /** The number of the next one to take. */
  #next = 0;
  /** The number of the first place at or after the next one that has no result. */
  #unfinished = 0;
  #weight = 0;

  /** How many items have been begun and not taken. */
  get length(): number {
    return this.#first + this.#places.length - this.#next;
  }

  /** How many results can be taken: no older one is missing. */
  get ready(): number {
    return this.#unfinished - this.#next;
  }

  /** Of all results that are there. */
  get weight(): number {
    return this.#weight;
  }

  /** Returns the number of a new place, behind all others. */
  begin(): number {
    return this.#first + this.#places.push(undefined) - 1;
  }

  finish(place: number, value: Result, weight: number): void {
    this.#places[place - this.#first] = { value, weight };
    this.#weight += weight;
    while (this.#places[this.#unfinished - this.#first] !== undefined) this.#unfinished += 1;
  }

  /** The oldest result; undefined while it is missing. */
  take(): { readonly value: Result } | undefined {
    const index = this.#next - this.#first;
    const finished = this.#places[index];
    if (finished === undefined) return undefined;
    this.#places[index] = undefined;
    this.#next += 1;
    this.#weight -= finished.weight;
    if (index === MAX_TAKEN) {
      this.#places = this.#places.slice(index + 1);
      this.#first = this.#next;
    }
    return finished;
  }
}
