// Merges the pages of a list: distinct events in order, and counts of the other entries.

import { SyncError } from "../../../errors/sync-error.ts";
import type { EventList, ListedEvent, ListedEvents } from "../../event-service.ts";
import { EventTexts } from "./event-texts.ts";
import type { ListPage } from "./list-reader.ts";
import type { PaginationHints } from "./pagination-hints.ts";

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
