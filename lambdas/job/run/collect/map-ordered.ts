// Work on many items at once, results in the order of the items, within bounds.

export interface OrderedOptions<Result> {
  /** How many items are worked on at the same time. */
  readonly concurrency: number;
  /** How many items may be started before the oldest one is taken. */
  readonly ahead: number;
  /** How much of finished results may wait to be taken, in the unit of `weigh`; above it nothing new is started. */
  readonly maxWeight: number;
  readonly weigh: (result: Result) => number;
  readonly signal: AbortSignal;
  /** Called at the end, before a failure is thrown, with the results that were finished but not taken, in the order of their items. */
  readonly onUntaken?: (results: readonly Result[]) => void;
}

/**
 * Yields `work(item)` for each item in order. Keeps working ahead while the consumer is busy, so a slow
 * consumer causes no stall until a bound is reached. The first failure aborts everything under way, waits for
 * it to end, and is thrown as it came; so does a consumer that stops early.
 */
export async function* mapOrdered<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
  options: OrderedOptions<Result>,
): AsyncGenerator<Result, void, undefined> {
  const { concurrency, ahead, maxWeight, weigh } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const source = items[Symbol.iterator]();
  const started: { result?: { readonly value: Result } }[] = [];
  let running = 0;
  let weight = 0;
  let exhausted = false;
  let failure: { readonly error: unknown } | undefined;
  let wake = (): void => undefined;

  const fail = (error: unknown): void => {
    failure ??= { error };
    stop.abort();
    wake();
  };
  const pump = (): void => {
    while (!exhausted && !failure && running < concurrency && started.length < ahead && weight < maxWeight) {
      const next = source.next();
      if (next.done) {
        exhausted = true;
        return;
      }
      const slot: (typeof started)[number] = {};
      started.push(slot);
      running += 1;
      work(next.value, signal)
        .then((value) => {
          slot.result = { value };
          weight += weigh(value);
        }, fail)
        .then(() => {
          running -= 1;
          pump();
          wake();
        })
        .catch(fail); // the items may throw too
    }
  };
  const onAbort = (): void => fail(options.signal.reason);
  options.signal.addEventListener("abort", onAbort, { once: true });

  try {
    options.signal.throwIfAborted();
    pump();
    while (started.length > 0) {
      if (failure) throw failure.error;
      const result = started[0]?.result;
      if (result === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      started.shift();
      weight -= weigh(result.value);
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
    options.onUntaken?.(started.flatMap(({ result }) => (result ? [result.value] : [])));
  }
}
