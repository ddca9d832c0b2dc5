// Listed events as bytes outside the heap: a list may have a million of them, and each waits until all have come. And the
// pages of a list as one: distinct events in order.

import type { EventList, ListedEvent, ListedEvents } from "../../event-service.ts";

const FIRST_CHUNK_BYTES = 16 * 1024;
const CHUNK_BYTES = 1_048_576;
const FIRST_CAPACITY = 64;
/** Chunk, offset and length of a record: the uuid as it was listed, and the listing. */
const WORDS = 3;
const UUID_BYTES = 36;

/** Costs each event its texts and 12 bytes. */
export class EventTexts implements ListedEvents {
  readonly #chunks: Buffer[] = [];
  /** How much of the last chunk is used. */
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
    this.#addPlace(this.#chunks.length - 1, this.#used, bytes);
    this.#used += bytes;
  }

  /**
   * The events of another list, which is not used from then on: their texts are not copied. No single one is added after
   * that.
   */
  addAll(other: EventTexts): void {
    const chunks = this.#chunks.length;
    this.#chunks.push(...other.#chunks);
    for (let at = 0; at < other.#length * WORDS; at += WORDS) {
      const [chunk = 0, offset = 0, bytes = 0] = other.#places.subarray(at, at + WORDS);
      this.#addPlace(chunks + chunk, offset, bytes);
    }
  }

  at(index: number): ListedEvent | undefined {
    return index >= 0 && index < this.#length ? this.#event(index) : undefined;
  }

  #event(index: number): ListedEvent {
    const record = this.#record(index);
    const requestAs = record.toString("latin1", 0, UUID_BYTES);
    return { uuid: requestAs.toLowerCase(), requestAs, listing: record.toString("utf8", UUID_BYTES) };
  }

  uuidAt(index: number): string {
    return this.#record(index).toString("latin1", 0, UUID_BYTES).toLowerCase();
  }

  *[Symbol.iterator](): Generator<ListedEvent, void> {
    for (let index = 0; index < this.#length; index += 1) yield this.#event(index);
  }

  /** Of two entries of one event: by the listing, then by the uuid as it was listed. */
  isSmaller(one: number, other: number): boolean {
    const [a, b] = [this.#event(one), this.#event(other)];
    return a.listing < b.listing || (a.listing === b.listing && a.requestAs < b.requestAs);
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
      // Of hexadecimal digits this is the order of their bytes.
      return this.uuidAt(a).localeCompare(this.uuidAt(b), "en");
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

  #addPlace(chunk: number, offset: number, bytes: number): void {
    const place = this.#length * WORDS;
    // Frees the old memory at once.
    if (place === this.#places.length)
      this.#places = new Uint32Array(this.#places.buffer.transfer(this.#places.byteLength * 2));
    this.#places.set([chunk, offset, bytes], place);
    this.#length += 1;
  }

  #record(index: number): Buffer {
    const [chunk = -1, offset = 0, bytes = 0] = this.#places.subarray(index * WORDS, this.#length * WORDS);
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

/** Merges the pages of a list. */
export class EventListBuilder {
  readonly #events = new EventTexts();
  /** How many events there were before each page. */
  readonly #pages: number[] = [];
  #rejected = 0;
  /** Numbers made of the uuids of the first so many events. They are made only where there is a second page. */
  readonly #known = new Set<number>();
  #knownEvents = 0;

  /** Entries so far, repeated and rejected ones included. */
  get received(): number {
    return this.#events.length + this.#rejected;
  }

  /** The uuid of the last event, as it was listed. */
  get last(): string | undefined {
    return this.#events.at(this.#events.length - 1)?.requestAs;
  }

  /** The same, where what came again counts once. */
  get distinct(): number {
    this.#know();
    return this.#known.size + this.#rejected;
  }

  #know(): void {
    for (; this.#knownEvents < this.#events.length; this.#knownEvents += 1)
      this.#known.add(numberOf(this.#events.uuidAt(this.#knownEvents)));
  }

  /** Whether one of these events has not come before. */
  hasNew(events: EventTexts): boolean {
    this.#know();
    for (let index = 0; index < events.length; index += 1)
      if (!this.#known.has(numberOf(events.uuidAt(index)))) return true;
    return false;
  }

  /** Whether these are the events of the page before, in its order. */
  repeatsPage(events: EventTexts): boolean {
    const first = this.#pages.at(-1) ?? 0;
    if (events.length === 0 || events.length !== this.#events.length - first) return false;
    for (let index = 0; index < events.length; index += 1)
      if (events.uuidAt(index) !== this.#events.uuidAt(first + index)) return false;
    return true;
  }

  add(events: EventTexts, rejected: number): void {
    this.#pages.push(this.#events.length);
    this.#events.addAll(events);
    this.#rejected += rejected;
  }

  /** Distinct events, sorted by uuid. Nothing can be added after that. */
  finish(): EventList {
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
        if (events.isSmaller(event, order[length - 1] ?? 0)) order[length - 1] = event;
      }
      previous = { event, uuid };
    }
    events.select(order.subarray(0, length));
    return overlapping;
  }
}

/** 53 bits of a uuid, which depend on all of it: two of a million have the same once in 18,000 lists. */
function numberOf(uuid: string): number {
  let [high, low] = [0x9e3779b9, 0x85ebca6b];
  for (const digit of uuid) {
    const code = digit.charCodeAt(0);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x5bd1e995) ^ (low >>> 15);
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
