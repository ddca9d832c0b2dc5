// Many things, some at a time.

/**
 * Takes no item before its batch is asked for.
 * @param first how many the first batch has: each that follows has twice as many as the one before, `most` at most
 */
export function* batches<Item>(
  items: Iterable<Item>,
  most: number,
  first = most,
): Generator<readonly Item[], void> {
  let batch: Item[] = [];
  let size = first;
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
    size = Math.min(2 * size, most);
  }
  if (batch.length > 0) yield batch;
}

/** What `work` makes of the items, in their order, batch after batch. What fails behind the end of the caller is no matter. */
export async function* inOrder<Item, Result>(
  all: Iterable<readonly Item[]>,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Awaited<Result>, void> {
  for (const batch of all) {
    const results = batch.map(work);
    for (const each of results) each.catch(() => undefined);
    for (const each of results) yield await each;
  }
}
