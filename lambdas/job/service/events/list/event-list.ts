// Merges the pages of a list: distinct events in order, and counts of the other entries.

import { SyncError } from "../../../errors/sync-error.ts";
import { BYTE_ORDER_MARK, formatPointer, JsonWindow, MalformedUtf8 } from "../../../json/json-document.ts";
import { MalformedJson } from "../../../json/json-scanner.ts";
import type { EventList, ListedEvent, ListedEvents } from "../../event-service.ts";
import { isObject, type JsonObject, notJson, notUtf8, parseBody } from "../shape.ts";
import { EventTexts, MAX_ENTRIES } from "./list-entries.ts";
import { ListWalker, muchBeside } from "./list-walker.ts";

export class EventListBuilder {
  #events = new EventTexts();
  /** How many events there were before each page. */
  readonly #pages: number[] = [];
  #received = 0;
  #rejected = 0;
  #total: PaginationHints["total"];

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
    const { events, overlapping } = distinct(this.#events, this.#pages);
    const repeated = this.#events.length - events.length;
    return { events, rejected: this.#rejected, repeated, overlapping };
  }
}

/** Sorted by uuid, each uuid once. */
class DistinctEvents implements ListedEvents {
  readonly #texts: EventTexts;
  /** The indices of the events. */
  readonly #order: Uint32Array;

  constructor(texts: EventTexts, order: Uint32Array) {
    this.#texts = texts;
    this.#order = order;
  }

  get length(): number {
    return this.#order.length;
  }

  at(index: number): ListedEvent | undefined {
    const place = this.#order[index];
    return place === undefined ? undefined : this.#texts.at(place);
  }

  *[Symbol.iterator](): Generator<ListedEvent, void> {
    for (let index = 0; index < this.length; index += 1) {
      const event = this.at(index);
      if (event) yield event;
    }
  }
}

/** Of each uuid the entry with the smallest text, not the first, so that the order of the list does not matter. */
function distinct(texts: EventTexts, pages: readonly number[]): Pick<EventList, "events" | "overlapping"> {
  const order = texts.order();
  let length = 0;
  let overlapping = 0;
  let previous = 0;
  for (const next of order) {
    const last = length === 0 ? undefined : order[length - 1];
    if (last === undefined || texts.compareUuids(last, next) !== 0) {
      order[length] = next;
      length += 1;
    } else {
      if (pageOf(previous, pages) !== pageOf(next, pages)) overlapping += 1;
      if (isSmaller(texts.at(next), texts.at(last))) order[length - 1] = next;
    }
    previous = next;
  }
  return { events: new DistinctEvents(texts, order.subarray(0, length)), overlapping };
}

function pageOf(event: number, pages: readonly number[]): number {
  let first = 0;
  let after = pages.length;
  while (after - first > 1) {
    const middle = (first + after) >> 1;
    if ((pages[middle] ?? 0) <= event) first = middle;
    else after = middle;
  }
  return first;
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

/** Reads one page of the list as it arrives: its events, and hints that more pages follow. */
export interface ListPage {
  /** In the page's order. */
  readonly events: Iterable<ListedEvent> & Pick<ListedEvents, "length">;
  /** How many entries have no valid uuid. */
  readonly rejected: number;
  readonly hints: PaginationHints;
}

/** More is copied and scanned piece by piece. */
const PIECE_BYTES = 256 * 1_024;
/** So much is to be read at least, before it is worth a try. */
const WORTH_BYTES = 64 * 1_024;

/** Holds the page's events, and of its text never more than a few MiB. */
export class ListReader {
  readonly #walker: ListWalker;
  readonly #window = new JsonWindow();
  #isBegun = false;
  #wantedBytes = WORTH_BYTES;

  /** @param pointer where the list is; undefined for the usual places */
  constructor(pointer: readonly string[] | undefined, maxEntries = MAX_ENTRIES) {
    this.#walker = new ListWalker(pointer, maxEntries);
  }

  /**
   * Throws `UnusableBody` for text that is not JSON, and `OversizeJson` for more than `maxEntries` entries and for other
   * sizes over a limit. Nothing can be added after that.
   */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      this.#window.add(bytes.subarray(at, at + PIECE_BYTES));
      if (this.#window.length >= this.#wantedBytes) this.#walk(false);
    }
  }

  /** The page, once all of it was added. Throws as `add`, and `UNEXPECTED_RESPONSE` for JSON that is not a list. */
  end(): ListPage {
    this.#walk(true);
    const { list, envelope, shape } = readable(() => this.#walker.end());
    const value = envelope === undefined ? undefined : parseBody(envelope);
    if (list === undefined) throw unexpectedShape(shape);
    if (envelope === undefined) throw muchBeside();
    if (list.problem) throw list.problem;
    const { events, rejected, path } = list;
    return { events, rejected, hints: paginationHints(value, [path.slice(0, -1)]) };
  }

  #walk(isLast: boolean): void {
    readable(() => {
      const json = this.#window.view(isLast);
      if (!this.#isBegun && json.startsWith(BYTE_ORDER_MARK)) {
        this.#isBegun = true;
        this.#window.release(BYTE_ORDER_MARK.length);
        this.#walk(isLast);
        return;
      }
      this.#isBegun = true;
      this.#window.release(this.#walker.walk(json, isLast));
    });
    // A value that is cut off is scanned again from its beginning: with twice as much, so all of it costs little more than once.
    this.#wantedBytes = Math.max(WORTH_BYTES, this.#window.length * 2);
  }
}

function readable<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedJson) throw notJson();
    if (error instanceof MalformedUtf8) throw notUtf8();
    throw error;
  }
}

function unexpectedShape(shape: string): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The list of events was not found in the response, whose shape is ${shape}. Set --list-pointer to its place, ` +
      "for example --list-pointer /data/items; it must be an array, or an object whose keys are uuids.",
    { fields: { shape } },
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

interface PaginationHints {
  /** The largest total that the page states, and where. */
  readonly total: { readonly pointer: string; readonly count: number } | undefined;
  /** The place at which the page says that another one follows. */
  readonly next: string | undefined;
}

/** @param envelope the page with its list emptied. @param extra pointers to more objects to search. */
export function paginationHints(
  envelope: unknown,
  extra: readonly (readonly string[])[] = [],
): PaginationHints {
  let total: PaginationHints["total"];
  let next: string | undefined;
  for (const [path, object] of containers(envelope, extra)) {
    for (const key of TOTALS) {
      const count = asCount(object[key]);
      if (count > (total?.count ?? 0)) total = { pointer: formatPointer([...path, key]), count };
    }
    const key = NEXT.find((name) => leadsOn(object[name])) ?? MORE.find((name) => object[name] === true);
    if (key !== undefined) next ??= formatPointer([...path, key]);
  }
  return { total, next };
}

/** The envelope, the usual containers in it and in those, and what the extra pointers lead to. */
function* containers(
  envelope: unknown,
  extra: readonly (readonly string[])[],
): Generator<readonly [readonly string[], JsonObject]> {
  for (const path of [[], ...extra]) {
    const object = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), envelope);
    if (isObject(object)) yield* withContainers(path, object, 2);
  }
}

function* withContainers(
  path: readonly string[],
  object: JsonObject,
  levels: number,
): Generator<readonly [readonly string[], JsonObject]> {
  yield [path, object];
  if (levels === 0) return;
  for (const key of CONTAINERS) {
    const inner = object[key];
    if (isObject(inner)) yield* withContainers([...path, key], inner, levels - 1);
  }
}

function asCount(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : 0;
}

function leadsOn(value: unknown): boolean {
  if (isObject(value)) return Object.values(value).some((inner) => inner !== null && inner !== "");
  return typeof value === "number" || value === true || (typeof value === "string" && value !== "");
}
