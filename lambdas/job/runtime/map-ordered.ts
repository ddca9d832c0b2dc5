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

/** What an item takes beside all results while it has stepped aside, in the unit of `maxWeight`. */
const ASIDE_WEIGHT = 2_048;

/** Waits without a place among the N at once, then takes one before any item that is not begun. */
export type StepAside = (wait: () => Promise<void>) => Promise<void>;

/**
 * Yields `work(item)` for each item in order. Keeps working ahead while the consumer is busy,
 * and while an item takes longer than those after it, so neither causes a stall until a bound is reached. The first
 * failure aborts everything under way, waits for it to end, and is thrown as it came, after the results before it that
 * are finished; so does a consumer that stops early.
 */
export async function* mapOrdered<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item, signal: AbortSignal, stepAside: StepAside) => Promise<Result>,
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
  let aside = 0;
  /** For items that stepped aside and would go on: each gives one of them a place. */
  const returning: (() => void)[] = [];
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
  const takePlace = (): void => {
    aside -= 1;
    running += 1;
  };
  const leavePlace = (): void => {
    running -= 1;
    returning.shift()?.();
    pump();
  };
  const stepAside: StepAside = async (wait) => {
    aside += 1;
    leavePlace();
    try {
      await wait();
    } finally {
      if (running < concurrency) takePlace();
      else
        await new Promise<void>((resolve) => {
          returning.push(() => {
            takePlace();
            resolve();
          });
        });
    }
  };
  const run = async (item: Item, place: number): Promise<void> => {
    try {
      const value = await work(item, stop.signal, stepAside);
      const result = { value, weight: weigh(value) };
      results.set(place, result);
      weight += result.weight;
      while (results.has(unfinished)) unfinished += 1;
    } catch (error) {
      fail(error);
    }
    leavePlace();
    wake();
  };
  const hasRoom = (): boolean =>
    running < concurrency &&
    unfinished - taken + running < ahead &&
    weight + aside * ASIDE_WEIGHT < maxWeight;
  const pump = (): void => {
    try {
      while (!stop.signal.aborted && hasRoom()) {
        const next = source.next();
        if (next.done) return;
        running += 1;
        void run(next.value, begun++);
      }
    } catch (error) {
      fail(error); // the items may throw too
    }
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
    while (running + aside > 0) await change();
  }
}
