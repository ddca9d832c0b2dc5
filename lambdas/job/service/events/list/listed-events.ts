// Listed events as bytes outside the heap: a list may have a million of them, and each waits until all have come. The entries
// of a page, and the pages of a list: distinct events in order.

import { SyncError } from "../../../errors/sync-error.ts";
import { compact, OversizeJson } from "../../../json/json-scanner.ts";
import type { EventList, ListedEvent, ListedEvents } from "../../event-service.ts";
import { isObject, parseBody } from "../shape.ts";

/** Over all pages of a list. */
export const MAX_ENTRIES = 1_000_000;

const FIRST_CHUNK_BYTES = 16 * 1024;
const CHUNK_BYTES = 1_048_576;
const FIRST_CAPACITY = 64;
/** Chunk, offset and length of a record. */
const WORDS = 3;
/** The lengths of both uuids. */
const HEAD_BYTES = 2;
/** As many bytes as a number holds exactly. */
const PREFIX_BYTES = 6;

/** Costs each event its texts (the uuid once, unless it was listed in another spelling) and 22 bytes. */
export class EventTexts implements ListedEvents {
  readonly #chunks: Buffer[] = [];
  /** Of the last chunk. */
  #used = 0;
  #places = new Uint32Array(FIRST_CAPACITY * WORDS);
  /** The first bytes of each uuid as a number: most comparisons need no more. */
  #prefixes = new Float64Array(FIRST_CAPACITY);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Uuids have at most 255 characters, all of them ASCII. */
  add({ uuid, requestAs, listing }: ListedEvent): void {
    const other = requestAs === uuid ? "" : requestAs;
    const bytes = HEAD_BYTES + uuid.length + other.length + Buffer.byteLength(listing);
    const chunk = this.#chunkFor(bytes);
    const offset = this.#used;
    let at = chunk.writeUInt8(uuid.length, offset);
    at = chunk.writeUInt8(other.length, at);
    at += chunk.write(uuid, at, "latin1");
    at += chunk.write(other, at, "latin1");
    chunk.write(listing, at, "utf8");
    this.#used += bytes;
    this.#index(offset, bytes, uuid);
  }

  at(index: number): ListedEvent | undefined {
    if (index < 0 || index >= this.#length) return undefined;
    const { chunk, offset, end } = this.#record(index);
    const uuidStart = offset + HEAD_BYTES;
    const otherStart = uuidStart + chunk.readUInt8(offset);
    const listingStart = otherStart + chunk.readUInt8(offset + 1);
    const uuid = chunk.toString("latin1", uuidStart, otherStart);
    const other = chunk.toString("latin1", otherStart, listingStart);
    return {
      uuid,
      requestAs: other === "" ? uuid : other,
      listing: chunk.toString("utf8", listingStart, end),
    };
  }

  *[Symbol.iterator](): Generator<ListedEvent, void> {
    for (let index = 0; index < this.#length; index += 1) {
      const event = this.at(index);
      if (event) yield event;
    }
  }

  /** The indices of all events in the order of their uuids. */
  order(): Uint32Array {
    const order = new Uint32Array(this.#length);
    for (let index = 0; index < order.length; index += 1) order[index] = index;
    return order.sort((a, b) => this.compareUuids(a, b));
  }

  compareUuids(a: number, b: number): number {
    const byPrefix = (this.#prefixes[a] ?? 0) - (this.#prefixes[b] ?? 0);
    if (byPrefix !== 0) return byPrefix;
    const [left, right] = [this.#record(a), this.#record(b)];
    const start = left.offset + HEAD_BYTES;
    const end = start + left.chunk.readUInt8(left.offset);
    const otherStart = right.offset + HEAD_BYTES;
    const otherEnd = otherStart + right.chunk.readUInt8(right.offset);
    return left.chunk.compare(right.chunk, otherStart, otherEnd, start, end);
  }

  /** From now on only those at these indices, in this order. No other is added. */
  select(indices: Uint32Array): void {
    const places = new Uint32Array(indices.length * WORDS);
    for (const [to, from] of indices.entries()) {
      places.set(this.#places.subarray(from * WORDS, (from + 1) * WORDS), to * WORDS);
    }
    this.#prefixes = Float64Array.from(indices, (from) => this.#prefixes[from] ?? 0);
    this.#places = places;
    this.#length = indices.length;
  }

  #record(index: number): { readonly chunk: Buffer; readonly offset: number; readonly end: number } {
    const place = index * WORDS;
    const chunk = this.#chunks[this.#places[place] ?? 0];
    const offset = this.#places[place + 1] ?? 0;
    if (chunk === undefined) throw new RangeError(`no event ${index}`);
    return { chunk, offset, end: offset + (this.#places[place + 2] ?? 0) };
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

  #index(offset: number, bytes: number, uuid: string): void {
    if (this.#length === this.#prefixes.length) this.#grow();
    const place = this.#length * WORDS;
    this.#places[place] = this.#chunks.length - 1;
    this.#places[place + 1] = offset;
    this.#places[place + 2] = bytes;
    this.#prefixes[this.#length] = prefixOf(uuid);
    this.#length += 1;
  }

  #grow(): void {
    // Frees the old memory at once.
    this.#places = new Uint32Array(this.#places.buffer.transfer(this.#places.byteLength * 2));
    this.#prefixes = new Float64Array(this.#prefixes.buffer.transfer(this.#prefixes.byteLength * 2));
  }
}

function prefixOf(uuid: string): number {
  let prefix = 0;
  for (let at = 0; at < PREFIX_BYTES; at += 1)
    prefix = prefix * 256 + (at < uuid.length ? uuid.charCodeAt(at) : 0);
  return prefix;
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
    if (isUuid(requestAs)) {
      const listing = compact(text, { start: 0, end: text.length });
      this.events.add({ uuid: requestAs.toLowerCase(), requestAs, listing });
    } else this.rejected += 1;
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

/** 8-4-4-4-12 hexadecimal digits, any case, any version (docs/service-interface.md §2.1). */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}

export interface ListPage {
  /** In the page's order. */
  readonly events: Iterable<ListedEvent> & Pick<ListedEvents, "length">;
  /** How many entries have no valid uuid. */
  readonly rejected: number;
  readonly hints: {
    /** The largest total that the page states, and where. */
    readonly total: { readonly pointer: string; readonly count: number } | undefined;
    /** The place at which the page says that another one follows. */
    readonly next: string | undefined;
  };
}

/** Merges the pages of a list. */
export class EventListBuilder {
  #events = new EventTexts();
  /** How many events there were before each page. */
  readonly #pages: number[] = [];
  #received = 0;
  #rejected = 0;
  #total: ListPage["hints"]["total"];

  /** Entries so far, repeated and rejected ones included. */
  get received(): number {
    return this.#received;
  }

  /** Throws `LIST_INCOMPLETE` if the page says that another one follows but no Link header leads there. */
  add({ events, rejected, hints }: ListPage, isFollowed: boolean): void {
    this.#pages.push(this.#events.length);
    // Most lists have one page, which is not copied.
    if (this.#events.length === 0 && events instanceof EventTexts) this.#events = events;
    else for (const event of events) this.#events.add(event);
    this.#received += events.length + rejected;
    this.#rejected += rejected;
    const { total, next } = hints;
    if (total !== undefined && total.count > (this.#total?.count ?? 0)) this.#total = total;
    if (next !== undefined && !isFollowed) {
      throw incomplete(
        `says at ${next} that more entries follow, but no Link header leads there`,
        this.#received,
      );
    }
  }

  /** Throws `LIST_INCOMPLETE` if a page stated more events than were received. */
  finish(): EventList {
    if (this.#total !== undefined && this.#total.count > this.#received) {
      throw incomplete(`states a total of ${this.#total.count} at ${this.#total.pointer}`, this.#received);
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
    let previous = 0;
    for (const next of order) {
      const last = length === 0 ? undefined : order[length - 1];
      if (last === undefined || events.compareUuids(last, next) !== 0) {
        order[length] = next;
        length += 1;
      } else {
        if (pageOf(previous) !== pageOf(next)) overlapping += 1;
        if (isSmaller(events.at(next), events.at(last))) order[length - 1] = next;
      }
      previous = next;
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
