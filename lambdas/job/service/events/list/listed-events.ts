// Listed events as bytes outside the heap: a list may have a million of them, and each waits until all have come. The entries
// of a page, and the pages of a list: distinct events in order.

import { SyncError } from "../../../errors/sync-error.ts";
import { formatPointer } from "../../../json/json-pointers.ts";
import { compact, OversizeJson } from "../../../json/json-scanner.ts";
import type { EventList, ListedEvent, ListedEvents } from "../../event-service.ts";
import { isObject, isUuid, type JsonObject, parseBody } from "../shape.ts";

/** Over all pages of a list. */
export const MAX_ENTRIES = 1_000_000;

const FIRST_CHUNK_BYTES = 16 * 1024;
const CHUNK_BYTES = 1_048_576;
const FIRST_CAPACITY = 64;
/** Chunk, offset and length of a record: the uuid as it was listed, and the listing. */
const WORDS = 3;
const UUID_BYTES = 36;

/** Costs each event its texts and 12 bytes. */
export class EventTexts implements ListedEvents {
  readonly #chunks: Buffer[] = [];
  /** Of the last chunk. */
  #used = 0;
  #places = new Uint32Array(FIRST_CAPACITY * WORDS);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** @param requestAs a uuid */
  add(requestAs: string, listing: string): void {
    const bytes = UUID_BYTES + Buffer.byteLength(listing);
    const chunk = this.#chunkFor(bytes);
    chunk.write(requestAs, this.#used, "latin1");
    chunk.write(listing, this.#used + UUID_BYTES, "utf8");
    const place = this.#length * WORDS;
    // Frees the old memory at once.
    if (place === this.#places.length)
      this.#places = new Uint32Array(this.#places.buffer.transfer(this.#places.byteLength * 2));
    this.#places.set([this.#chunks.length - 1, this.#used, bytes], place);
    this.#used += bytes;
    this.#length += 1;
  }

  at(index: number): ListedEvent | undefined {
    if (index < 0 || index >= this.#length) return undefined;
    const record = this.#record(index);
    const requestAs = record.toString("latin1", 0, UUID_BYTES);
    return { uuid: requestAs.toLowerCase(), requestAs, listing: record.toString("utf8", UUID_BYTES) };
  }

  uuidAt(index: number): string {
    return this.#record(index).toString("latin1", 0, UUID_BYTES).toLowerCase();
  }

  *[Symbol.iterator](): Generator<ListedEvent, void> {
    for (let index = 0; index < this.#length; index += 1) {
      const event = this.at(index);
      if (event) yield event;
    }
  }

  /** The indices of all events in the order of their uuids. */
  order(): Uint32Array {
    // The first twelve digits as a number: few comparisons need more.
    const prefixes = new Float64Array(this.#length);
    const order = new Uint32Array(this.#length);
    for (let index = 0; index < this.#length; index += 1) {
      const uuid = this.uuidAt(index);
      prefixes[index] = Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
      order[index] = index;
    }
    return order.sort((a, b) => {
      const byPrefix = (prefixes[a] ?? 0) - (prefixes[b] ?? 0);
      if (byPrefix !== 0) return byPrefix;
      const [one, other] = [this.uuidAt(a), this.uuidAt(b)];
      return one < other ? -1 : Number(one > other);
    });
  }

  /** From now on only those at these indices, in this order. No other is added. */
  select(indices: Uint32Array): void {
    const places = new Uint32Array(indices.length * WORDS);
    for (const [to, from] of indices.entries()) {
      places.set(this.#places.subarray(from * WORDS, (from + 1) * WORDS), to * WORDS);
    }
    this.#places = places;
    this.#length = indices.length;
  }

  #record(index: number): Buffer {
    const [chunk = 0, offset = 0, bytes = 0] = this.#places.subarray(index * WORDS);
    const texts = this.#chunks[chunk];
    if (texts === undefined) throw new RangeError(`no event ${index}`);
    return texts.subarray(offset, offset + bytes);
  }

  /** Small lists get small chunks; a record never lies in two. */
  #chunkFor(bytes: number): Buffer {
    const last = this.#chunks.at(-1);
    if (last && this.#used + bytes <= last.length) return last;
    const size = Math.min(CHUNK_BYTES, last === undefined ? FIRST_CHUNK_BYTES : last.length * 2);
    const chunk = Buffer.allocUnsafeSlow(Math.max(size, bytes));
    this.#chunks.push(chunk);
    this.#used = 0;
    return chunk;
  }
}

/** The entries of one list on a page: events, and a count of those without a valid uuid. */
export class ListEntries {
  /** Where in the page the list is. */
  readonly path: readonly string[];
  /** In the page's order. */
  readonly events = new EventTexts();
  /** How many entries have no valid uuid. */
  rejected = 0;
  /** Why these entries cannot be used. It counts only if they turn out to be the list: a later one may replace them. */
  problem: SyncError | undefined;
  readonly #maxEntries: number;

  constructor(path: readonly string[], maxEntries: number) {
    this.path = path;
    this.#maxEntries = maxEntries;
  }

  get length(): number {
    return this.events.length + this.rejected;
  }

  /** Throws `UnusableBody` for text that is not JSON, `OversizeJson` for one entry too many. */
  take(text: string, key: string | undefined): void {
    if (this.length === this.#maxEntries) {
      throw new OversizeJson(`has more than ${MAX_ENTRIES.toLocaleString("en")} entries`);
    }
    const entry = parseBody(text);
    const own = isObject(entry) ? (entry["uuid"] ?? undefined) : undefined;
    if (key !== undefined && own !== undefined && !isSame(own, key)) this.problem ??= contradiction();
    const requestAs = isObject(entry) ? (own ?? key) : undefined;
    if (isUuid(requestAs)) this.events.add(requestAs, compact(text, { start: 0, end: text.length }));
    else this.rejected += 1;
  }
}

function isSame(own: unknown, key: string): boolean {
  return typeof own === "string" && own.toLowerCase() === key.toLowerCase();
}

function contradiction(): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    "The list is keyed by uuid, but an entry's own uuid differs from its key, so it is not clear which event it is. Ask " +
      "the service's operator, or set --list-pointer to the place of the list.",
  );
}

/** What a page says about the others. */
interface PagingHints {
  /** The largest total that it states, and where. */
  readonly total: { readonly pointer: string; readonly count: number } | undefined;
  /** The place at which it says that another one follows. */
  readonly next: string | undefined;
}

/** Merges the pages of a list. */
export class EventListBuilder {
  #events = new EventTexts();
  /** How many events there were before each page. */
  readonly #pages: number[] = [];
  /** Entries so far, repeated and rejected ones included. */
  received = 0;
  #rejected = 0;
  #total: PagingHints["total"];

  /**
   * Throws `LIST_INCOMPLETE` if the page says that another one follows but no Link header leads there.
   * @param envelope the page with its list emptied
   */
  add(
    { events, rejected, path }: Pick<ListEntries, "events" | "rejected" | "path">,
    envelope: unknown,
    isFollowed: boolean,
  ): void {
    const { total, next } = paginationHints(envelope, path);
    this.#pages.push(this.#events.length);
    // Most lists have one page, which is not copied.
    if (this.#events.length === 0) this.#events = events;
    else for (const { requestAs, listing } of events) this.#events.add(requestAs, listing);
    this.received += events.length + rejected;
    this.#rejected += rejected;
    if (total !== undefined && total.count > (this.#total?.count ?? 0)) this.#total = total;
    if (next !== undefined && !isFollowed)
      throw incomplete(
        `says at ${next} that more entries follow, but no Link header leads there`,
        this.received,
      );
  }

  /** Throws `LIST_INCOMPLETE` if a page stated more events than were received. */
  finish(): EventList {
    if (this.#total !== undefined && this.#total.count > this.received) {
      throw incomplete(`states a total of ${this.#total.count} at ${this.#total.pointer}`, this.received);
    }
    const events = this.#events;
    const listed = events.length;
    const overlapping = this.#sort();
    return { events, rejected: this.#rejected, repeated: listed - events.length, overlapping };
  }

  /**
   * Sorts by uuid and keeps of each the entry with the smallest text, not the first, so that the order of the list does
   * not matter. Returns how many repeat an entry of another page.
   */
  #sort(): number {
    const events = this.#events;
    const pageOf = (event: number): number => this.#pages.findLastIndex((first) => first <= event);
    const order = events.order();
    let length = 0;
    let overlapping = 0;
    let previous = { event: 0, uuid: "" };
    for (const event of order) {
      const uuid = events.uuidAt(event);
      if (uuid !== previous.uuid) {
        order[length] = event;
        length += 1;
      } else {
        if (pageOf(previous.event) !== pageOf(event)) overlapping += 1;
        if (isSmaller(events.at(event), events.at(order[length - 1] ?? 0))) order[length - 1] = event;
      }
      previous = { event, uuid };
    }
    events.select(order.subarray(0, length));
    return overlapping;
  }
}

function isSmaller(a: ListedEvent | undefined, b: ListedEvent | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.listing < b.listing || (a.listing === b.listing && a.requestAs < b.requestAs);
}

function incomplete(what: string, received: number): SyncError {
  return new SyncError(
    "LIST_INCOMPLETE",
    `The list of events ${what}; ${received} entries were received. A partial snapshot is never published: ask the service's ` +
      "operator how the list is paged.",
    { fields: { received } },
  );
}

// Paging is not documented (docs/service-interface.md §3.2), so all the usual names count.
const CONTAINERS = ["meta", "pagination", "paging", "page", "links", "_links", "data"];
const TOTALS = ["total", "total_count", "totalCount", "total_results", "totalResults"];
const NEXT = [
  "next",
  "next_page",
  "nextPage",
  "next_url",
  "nextUrl",
  "next_cursor",
  "nextCursor",
  "next_page_token",
  "nextPageToken",
];
const MORE = ["has_more", "hasMore", "has_next", "hasNext", "has_next_page", "hasNextPage"];

/** @param envelope the page with its list emptied. @param place where in it the list is */
export function paginationHints(envelope: unknown, place: readonly string[] = []): PagingHints {
  const parent = place.slice(0, -1);
  const around = parent.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), envelope);
  let total: PagingHints["total"];
  let next: string | undefined;
  for (const [path, object] of [...containers([], envelope), ...containers(parent, around)]) {
    for (const key of TOTALS) {
      const count = asCount(object[key]);
      if (count > (total?.count ?? 0)) total = { pointer: formatPointer([...path, key]), count };
    }
    const key = NEXT.find((name) => leadsOn(object[name])) ?? MORE.find((name) => object[name] === true);
    if (key !== undefined) next ??= formatPointer([...path, key]);
  }
  return { total, next };
}

/** A value if it is an object, the usual containers in it, and those in them. */
function* containers(
  path: readonly string[],
  value: unknown,
  levels = 2,
): Generator<readonly [readonly string[], JsonObject]> {
  if (!isObject(value)) return;
  yield [path, value];
  if (levels === 0) return;
  for (const key of CONTAINERS) yield* containers([...path, key], value[key], levels - 1);
}

function asCount(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : 0;
}

function leadsOn(value: unknown): boolean {
  if (isObject(value)) return Object.values(value).some((inner) => inner !== null && inner !== "");
  return typeof value === "number" || value === true || (typeof value === "string" && value !== "");
}
