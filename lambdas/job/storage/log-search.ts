// What is asked about a log of years, found without reading all of it: the newest removal, and which snapshots are published.

import { publicationId } from "./layout.ts";
import { mayBeRemoval, type Publication, type Removal } from "./publication.ts";
import { findEntry, idOf, logFrom, readEntries, readEntry } from "./publication-log.ts";
import type { AccountStore } from "./store.ts";

/**
 * The newest removal after an entry. Of the entries between them only those are read that may be one. Throws as `readLog`
 * does.
 */
export async function newestRemoval(store: AccountStore, after: string): Promise<Removal | undefined> {
  return (await countingFrom(store, after)).removal;
}

interface Counting {
  /** The newest removal after the entry. */
  readonly removal: Removal | undefined;
  /** The numbers of the publications above that, in order. */
  readonly ids: readonly string[];
}

async function countingFrom(store: AccountStore, after: string): Promise<Counting> {
  const files = (await logFrom(store, after)).filter((file) => idOf(file) > after);
  for (const file of files.filter(mayBeRemoval).toReversed()) {
    const removal = await readEntry(store, idOf(file));
    // Deleted by a later removal.
    if (removal === undefined) return countingFrom(store, after);
    if (removal.action !== "remove") continue;
    return { removal, ids: files.map(idOf).filter((id) => id > removal.publication) };
  }
  return { removal: undefined, ids: files.map(idOf) };
}

/**
 * Of the snapshots those that a publication names, with the first one that is found. It is looked for from where the run was
 * planned, and from the end: there it mostly is, however long the log is.
 * @param planned snapshots by id, with the number where the log ended when it was planned: no publication up to there is
 * its own. Undefined where that is not known: then its name says where to begin, and all is looked at before it counts as
 * not published
 */
export async function publishedAmong(
  store: AccountStore,
  planned: ReadonlyMap<string, string | undefined>,
): Promise<ReadonlyMap<string, Publication>> {
  const found = new Map<string, Publication>();
  if (planned.size === 0) return found;
  const [after = ""] = [...planned.values()].map((place) => place ?? "").sort();
  const { ids } = await countingFrom(store, after);
  const begins = await Array.fromAsync(
    planned,
    ([snapshotId, place]) => place ?? numberNear(store, ids, snapshotId),
  );
  for await (const publication of readInOrder(store, outwards(ids, [...begins, ids.at(-1) ?? ""]))) {
    const { snapshot_id: snapshotId } = publication;
    if (planned.has(snapshotId) && !found.has(snapshotId)) found.set(snapshotId, publication);
    if (found.size === planned.size) break;
  }
  return found;
}

/** The publications of these numbers, oldest first; without those that do not exist, or lie below a removal. */
export async function publicationsAt(
  store: AccountStore,
  numbers: readonly string[],
): Promise<readonly Publication[]> {
  const wanted = new Set(numbers);
  const [first] = [...wanted].sort();
  if (first === undefined) return [];
  const { ids } = await countingFrom(store, publicationId(Number(first) - 1));
  const asked = ids.filter((id) => wanted.has(id));
  return Array.fromAsync(readInOrder(store, asked));
}

/** Where the snapshot is published if clocks were right: this only says where to look first. */
async function numberNear(store: AccountStore, ids: readonly string[], snapshotId: string): Promise<string> {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = await findEntry(store, ids[middle] ?? "");
    if ((entry?.snapshot_id ?? "") < snapshotId) low = middle + 1;
    else high = middle;
  }
  return ids[low] ?? "";
}

/** The numbers, those near one of the `begins` before the others. */
function outwards(ids: readonly string[], begins: readonly string[]): readonly string[] {
  const places = begins.map(Number);
  const distance = (id: string): number => Math.min(...places.map((place) => Math.abs(Number(id) - place)));
  const far = ids.map((id) => ({ id, distance: distance(id) }));
  return far.sort((a, b) => a.distance - b.distance).map(({ id }) => id);
}

async function* readInOrder(store: AccountStore, ids: readonly string[]): AsyncGenerator<Publication> {
  for await (const entry of readEntries(store, ids, 1)) if (entry && entry.action !== "remove") yield entry;
}
