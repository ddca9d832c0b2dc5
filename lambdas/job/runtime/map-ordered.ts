// Work on many items at once, results in the order of the items, within bounds.

/** Finished results that may wait for an older one, in UTF-16 code units: bounds memory to about twice that. */
const MAX_WAITING_TEXT = 16 * 1024 * 1024;

export interface OrderedOptions<Result> {
  /** How many items are worked on at the same time. */
  readonly concurrency: number;
  /** How many items may be started before the consumer takes the oldest one that is finished; without it some more. */
  readonly ahead?: number;
  /** What a result takes while it waits, in the unit of `maxWeight`; without it nothing. */
  readonly weigh?: (result: Result) => number;
  /** How much of results may wait, also for an older one; above it nothing new is started. */
  readonly maxWeight?: number;
  readonly signal: AbortSignal;
}

/** What an item takes beside all results while it waits, in the unit of `maxWeight`. */
const WAITING_WEIGHT = 2_048;

/** For an item that waits: meanwhile it does not count among the N at once. */
export interface Waits {
  /** For what comes by itself. */
  during(wait: Promise<void>): Promise<void>;
  /** For what another item brings about; ends as well once none can: all others are finished, or wait so. */
  forOthers(wait: Promise<void>): Promise<void>;
}

/**
 * Yields `work(item)` for each item in order. Keeps working ahead while the consumer is busy,
 * and while an item takes longer than those after it, so neither causes a stall until a bound is reached. The first
 * failure aborts everything under way, waits for it to end, and is thrown as it came, after the results before it that
 * are finished; so does a consumer that stops early.
 */
export async function* mapOrdered<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item, signal: AbortSignal, waits: Waits) => Promise<Result>,
  options: OrderedOptions<Result>,
): AsyncGenerator<Result, void, undefined> {
  const { concurrency, ahead = Math.max(64, concurrency * 4), signal } = options;
  const { weigh = () => 0, maxWeight = MAX_WAITING_TEXT } = options;
  const stop = new AbortController();
  const source = items[Symbol.iterator]();
  /** Results that are not taken yet, by their places. */
  const results = new Map<number, { readonly value: Result; readonly weight: number }>();
  let begun = 0;
  let taken = 0;
  /** The first place without a result. */
  let unfinished = 0;
  let running = 0;
  /** How many of them wait. */
  let waiting = 0;
  /** Of those that wait for others: each lets one of them go on. */
  const hoping = new Set<() => void>();
  let weight = 0;
  let failure: { readonly error: unknown } | undefined;
  let wake = (): void => undefined;

  const change = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  const fail = (error: unknown): void => {
    failure ??= { error };
    stop.abort();
  };
  const during = async (wait: Promise<void>): Promise<void> => {
    waiting += 1;
    pump();
    try {
      await wait;
    } finally {
      waiting -= 1;
    }
  };
  const forOthers = async (wait: Promise<void>): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    hoping.add(resolve);
    try {
      await during(Promise.race([wait, promise]));
    } finally {
      hoping.delete(resolve);
    }
  };
  const run = async (item: Item, place: number): Promise<void> => {
    try {
      const value = await work(item, stop.signal, { during, forOthers });
      const result = { value, weight: weigh(value) };
      results.set(place, result);
      weight += result.weight;
      while (results.has(unfinished)) unfinished += 1;
    } catch (error) {
      fail(error);
    }
    running -= 1;
    pump();
    wake();
  };
  const hasRoom = (): boolean =>
    running - waiting < concurrency &&
    unfinished - taken + running - waiting < ahead &&
    weight + waiting * WAITING_WEIGHT < maxWeight;
  const pump = (): void => {
    try {
      while (!stop.signal.aborted && hasRoom()) {
        const next = source.next();
        if (next.done) break;
        running += 1;
        void run(next.value, begun++);
      }
    } catch (error) {
      fail(error); // the items may throw too
    }
    // A result that can be taken may make room.
    if (hoping.size === running && !results.has(taken)) for (const goOn of hoping) goOn();
  };
  const onAbort = (): void => {
    failure ??= { error: signal.reason };
    stop.abort(signal.reason);
  };
  signal.addEventListener("abort", onAbort);

  try {
    signal.throwIfAborted();
    pump();
    while (taken < begun) {
      const result = results.get(taken);
      if (result === undefined) {
        if (failure) throw failure.error;
        await change();
        continue;
      }
      results.delete(taken);
      taken += 1;
      weight -= result.weight;
      pump();
      yield result.value;
    }
    if (failure) throw failure.error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    stop.abort();
    while (running > 0) await change();
  }
}
