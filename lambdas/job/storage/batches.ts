// Many things, some at a time.

/** @param first how many the first batch has: each that follows has twice as many as the one before, `most` at most */
export function* batches<Item>(
  items: readonly Item[],
  most: number,
  first = most,
): Generator<readonly Item[], void> {
  for (let at = 0, size = first; at < items.length; at += size, size = Math.min(2 * size, most))
    yield items.slice(at, at + size);
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
