// Which snapshot readers see: the account's publications, numbered without gaps. Creating the next one is the commit.
// A removal is an entry as well: what lies below it does not count, whether it is still there or not. Only this file
// knows.

import { posix } from "node:path";
import { SyncError, undefinedIfDamaged } from "../errors/sync-error.ts";
import { batches, inOrder } from "./batches.ts";
import { isOfLayout, publicationId } from "./layout.ts";
import { type Entry, entryBytes, type Publication, parseEntry, type Removal } from "./publication.ts";
import type { AccountStore, StoredKey } from "./store.ts";

/** Where the log ends. */
export interface LogEnd {
  /** The number of the last entry; "" where there is none. */
  readonly last: string;
  /** What readers see. */
  readonly head: Publication | undefined;
  /** The last entry, if it is a removal. */
  readonly removal: Removal | undefined;
}

/** What the log has gained after an entry. */
export interface LogSince {
  /** Oldest first; only what lies above the newest removal. */
  readonly publications: readonly Publication[];
  /** The newest removal after the entry. */
  readonly removal: Removal | undefined;
  /** The number of the last entry; "" where there is none. */
  readonly last: string;
}

/** The account's publications, oldest first. Throws `STORE_CORRUPT` for a gap or a damaged file. */
export async function readLog(store: AccountStore): Promise<readonly Publication[]> {
  return (await readLogSince(store, "")).publications;
}

/** All that came after an entry. Throws as `readLog` does. */
export async function readLogSince(store: AccountStore, after: string): Promise<LogSince> {
  const files = await logFrom(store, after);
  const newest: Publication[] = [];
  const found = (removal?: Removal): LogSince => ({
    last: idIn(files.at(-1)) ?? "",
    publications: newest.toReversed(),
    removal,
  });
  const wanted = files.map(idOf).filter((id) => id > after);
  for await (const entry of readEntries(store, wanted.toReversed())) {
    if (entry === undefined) return readLogSince(store, after);
    if (entry.action === "remove") return found(entry);
    newest.push(entry);
  }
  return found();
}

/**
 * Reads the newest entry. Throws `STORE_CORRUPT` if it is damaged, or the numbers have a gap near it.
 * @param near the number of an entry not far from the end, if one is known
 */
export async function readEnd(store: AccountStore, near = ""): Promise<LogEnd> {
  const last = await lastId(store, near);
  if (last === undefined) return { last: "", head: undefined, removal: undefined };
  const entry = await readEntry(store, last);
  if (entry === undefined) return readEnd(store);
  return entry.action === "remove"
    ? { last, head: undefined, removal: entry }
    : { last, head: entry, removal: undefined };
}

/** The newest publication; undefined where nothing is published, or the account was removed. Reads as `readEnd` does. */
export async function readHead(store: AccountStore): Promise<Publication | undefined> {
  return (await readEnd(store)).head;
}

/**
 * The newest publication that is such a one. Searches from the newest to the first, because no clock says where to stop:
 * do not search for what certainly is not there.
 */
export async function findPublication(
  store: AccountStore,
  isSought: (publication: Publication) => boolean,
): Promise<Publication | undefined> {
  for await (const publication of newestFirst(store)) {
    if (isSought(publication)) return publication;
  }
  return undefined;
}

/** Matches the one publication that a run makes; an accept or a rollback may have begun at the same instant. */
export function isOfRun(runId: string): (publication: Publication) => boolean {
  return ({ action, run_id }) => action === "run" && run_id === runId;
}

/** All publications, each read on demand. Throws `STORE_CORRUPT` where it comes to a gap or a damaged file. */
export async function* newestFirst(store: AccountStore): AsyncGenerator<Publication> {
  for await (const entry of readEntries(store, idsFrom(await lastId(store)), 1)) {
    if (entry === undefined || entry.action === "remove") return;
    yield entry;
  }
}

/** This number, and those below it: up to ten billion, however few entries are left. */
function* idsFrom(last = "0"): Generator<string, void> {
  for (let number = Number(last); number > 0; number -= 1) yield publicationId(number);
}

/** The publications that can be read, whatever is damaged beside them: for what no snapshot depends on. */
export async function* newestReadable(store: AccountStore): AsyncGenerator<Publication> {
  for (const file of (await listLog(store)).toReversed()) {
    const entry = await readEntry(store, idOf(file)).catch(undefinedIfDamaged);
    if (entry?.action === "remove") return;
    if (entry) yield entry;
  }
}

/**
 * The commit. "lost": another writer took the number first, or the account was removed with a number above. A publication
 * that exists with our own `write_id` was made by an earlier try whose response was lost, so it counts as committed.
 */
export async function publish(store: AccountStore, publication: Publication): Promise<"committed" | "lost"> {
  const id = publication.publication;
  if ((await createEntry(store, publication)) === undefined) {
    const standing = await readEntry(store, id);
    if (standing?.write_id !== publication.write_id) return "lost";
  }
  // A number below a removal may have been free because its publication is deleted: this process was stopped meanwhile.
  const { removal } = await readLogSince(store, id);
  return removal === undefined ? "committed" : "lost";
}

/**
 * Removes the account: from now on nothing counts that the log holds, damaged or not. Returns the number.
 * @param runId names the removal as a run is named
 */
export async function createRemoval(
  store: AccountStore,
  { runId, atMs, writeId }: { readonly runId: string; readonly atMs: number; readonly writeId: string },
): Promise<string> {
  for (;;) {
    const last = idIn((await listLog(store)).at(-1)) ?? "0";
    const publication = publicationId(Number(last) + 1);
    const counts = { events: 0, added: 0, changed: 0, removed: 0 };
    const created = await createEntry(store, {
      publication,
      action: "remove",
      snapshot_id: null,
      base_snapshot_id: null,
      published_at: new Date(atMs).toISOString(),
      ...counts,
      run_id: runId,
      pinned: false,
      write_id: writeId,
    });
    if (created !== undefined) return publication;
    // Made by an earlier try whose response was lost.
    const standing = await store.read(store.keys.publication(publication));
    if (standing && parseEntry(standing.bytes)?.write_id === writeId) return publication;
  }
}

async function createEntry(store: AccountStore, entry: Entry): Promise<string | undefined> {
  return store.create(store.keys.publication(entry.publication), entryBytes(entry));
}

/** The publication before this one; undefined for the first, also after a removal. Throws as `readLog` does. */
export async function publicationBefore(
  store: AccountStore,
  publication: string,
): Promise<Publication | undefined> {
  const number = Number(publication) - 1;
  const entry = number === 0 ? undefined : await readEntry(store, publicationId(number));
  return entry?.action === "remove" ? undefined : entry;
}

// A log of years has tens of thousands of entries, and each run reads its end. So the end is found, and not listed: a number
// near it by doubling and halving, and the numbers from there on by one list. Nothing is stored that could be out of date, and
// an end that is found too low shows in the list. A gap that neither of the two meets is found by what reads the whole log.

/** The number of the last entry; undefined where there is none. */
async function lastId(store: AccountStore, known = ""): Promise<string | undefined> {
  if (known !== "") return idIn((await logFrom(store, known)).at(-1));
  const first = await firstId(store);
  if (first === undefined) return undefined;
  // A log begins with its first number, or with the removal below which all is deleted.
  const isWhole =
    Number(first) === 1 || (await readEntry(store, first).catch(undefinedIfDamaged))?.action === "remove";
  const near = isWhole ? await idNearEnd(store, Number(first)) : undefined;
  const files = near === undefined ? undefined : await wholeFrom(store, near);
  return idIn((files ?? (await wholeLog(store))).at(-1));
}

async function firstId(store: AccountStore): Promise<string | undefined> {
  for await (const file of store.list(store.keys.publications)) if (isOfLayout(file.key)) return idOf(file);
  return undefined;
}

/** The number of an entry that exists, behind which there are few where the log has no gap. */
async function idNearEnd(store: AccountStore, first: number): Promise<string> {
  const exists = async (number: number): Promise<boolean> =>
    (await store.read(store.keys.publication(publicationId(number)))) !== undefined;
  let step = 1;
  while (await exists(first + step)) step *= 2;
  let [there, free] = [first + Math.floor(step / 2), first + step];
  while (free - there > 1) {
    const between = Math.floor((there + free) / 2);
    if (await exists(between)) there = between;
    else free = between;
  }
  return publicationId(there);
}

/** The entries from this one on; undefined unless it is there, and no number lacks behind it. */
async function wholeFrom(store: AccountStore, id: string): Promise<readonly StoredKey[] | undefined> {
  const files = await listLog(store, publicationId(Number(id) - 1));
  const isWhole = files.every((file, index) => Number(idOf(file)) === Number(id) + index);
  return files.length > 0 && isWhole ? files : undefined;
}

/** The entries from this one on, or more of them; all where it is none. */
export async function logFrom(store: AccountStore, id: string): Promise<readonly StoredKey[]> {
  const from = Number(id) === 0 ? undefined : await wholeFrom(store, id);
  return from ?? wholeLog(store);
}

/** Undefined where there is no such entry, or none that can be read. */
export async function findEntry(store: AccountStore, id: string): Promise<Entry | undefined> {
  const stored = await store.read(store.keys.publication(id));
  return stored && parseEntry(stored.bytes);
}

/** The entries of the log, without those below a gap. A gap is damage unless a removal lies above it. */
async function wholeLog(store: AccountStore): Promise<readonly StoredKey[]> {
  const files = await listLog(store);
  const start = files.findLastIndex(
    (file, at) => Number(idOf(file)) !== Number(idIn(files[at - 1]) ?? "0") + 1,
  );
  if (start === -1) return files;
  const whole = files.slice(start);
  let unreadable: string | undefined;
  for (const { key } of whole) {
    const stored = await store.read(key);
    const entry = stored && parseEntry(stored.bytes);
    if (entry?.action === "remove") return whole;
    if (stored && entry === undefined) unreadable ??= key;
  }
  // Another removal may have deleted some of them since they were listed, and is an entry more.
  if ((await listLog(store)).map(idOf).join() !== files.map(idOf).join()) return wholeLog(store);
  // The unreadable entry may be the removal that made the gap.
  if (unreadable !== undefined) throw corrupt(unreadable, NOT_ONE_LINE);
  const missing = publicationId(Number(idIn(files[start - 1]) ?? "0") + 1);
  throw incomplete(store.keys.publication(missing), whole[0]?.key ?? "", start);
}

/** All entries in order, whatever is missing between them; with `after`, those behind that number. */
async function listLog(store: AccountStore, after?: string): Promise<readonly StoredKey[]> {
  const { publications, publication } = store.keys;
  const listed = store.list(publications, after === undefined ? undefined : publication(after));
  return (await Array.fromAsync(listed)).filter(({ key }) => isOfLayout(key));
}

export const idOf = ({ key }: Pick<StoredKey, "key">): string => posix.basename(key, ".ndjson");
const idIn = (file: StoredKey | undefined): string | undefined => file && idOf(file);

/** Entries that are read at the same time: an hourly schedule makes thousands in a year. */
const AT_ONCE = 16;

/**
 * As `readEntry` gives them, in this order. Below a removal nothing counts, so what is damaged behind the last one that is taken
 * is not thrown.
 * @param first how many are read at first; then more and more at the same time
 */
export function readEntries(
  store: AccountStore,
  ids: Iterable<string>,
  first = AT_ONCE,
): AsyncGenerator<Entry | undefined, void> {
  return inOrder(batches(ids, AT_ONCE, first), (id) => readEntry(store, id));
}

/**
 * The entry of this number. Undefined where a removal has deleted it since the folder was listed. Throws `STORE_CORRUPT`
 * where it does not exist otherwise, or is damaged.
 */
export async function readEntry(store: AccountStore, id: string): Promise<Entry | undefined> {
  const key = store.keys.publication(id);
  const stored = await store.read(key);
  if (stored === undefined) {
    const ids = (await wholeLog(store)).map(idOf);
    if (ids.includes(id) || (ids.at(-1) ?? "") < id) throw corrupt(key, "it was listed but no longer exists");
    return undefined;
  }
  const parsed = parseEntry(stored.bytes);
  if (parsed === undefined) throw corrupt(key, NOT_ONE_LINE);
  if (parsed.publication !== id) throw corrupt(key, `it says that it is ${parsed.publication}`);
  return parsed;
}

const NOT_ONE_LINE = "it is not one complete line of a publication";

/** Where the beginning is missing, an earlier version may have removed the account beside another writer. */
function incomplete(expected: string, found: string, earlier: number): SyncError {
  const what = `it is missing, while ${found} exists`;
  if (earlier > 0) return corrupt(expected, what);
  return corrupt(expected, what, "If the account was to be removed, remove it again. Otherwise restore");
}

function corrupt(key: string, what: string, remedy = "Restore"): SyncError {
  return new SyncError("STORE_CORRUPT", `The publication ${key} is damaged: ${what}.`, {
    fields: { key },
    next: `${remedy} this file from a backup or an earlier version of it. Until then nothing is published.`,
  });
}
