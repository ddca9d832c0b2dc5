// Merges the pages of a list: distinct events in order, and counts of the other entries.

import { SyncError } from "../../errors/sync-error.ts";
import type { EventList, ListedEvent } from "../event-service.ts";
import type { ListPage } from "./list-page.ts";
import type { PaginationHints } from "./pagination-hints.ts";

export class EventListBuilder {
  readonly #events = new Map<string, ListedEvent>();
  #received = 0;
  #rejected = 0;
  #repeated = 0;
  #total: PaginationHints["total"];

  /** Entries so far, repeated and rejected ones included. */
  get received(): number {
    return this.#received;
  }

  /** Throws `LIST_INCOMPLETE` if the page says that another one follows but no Link header leads there. */
  add(page: ListPage, isFollowed: boolean): void {
    for (const event of page.events) this.#take(event);
    this.#received += page.events.length + page.rejected;
    this.#rejected += page.rejected;
    const { total, next } = page.hints;
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
    const events = [...this.#events.values()].sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
    return { events, rejected: this.#rejected, repeated: this.#repeated };
  }

  #take(entry: ListedEvent): void {
    const earlier = this.#events.get(entry.uuid);
    if (earlier !== undefined) this.#repeated += 1;
    // The smallest text, not the first, so that the order of the list does not matter.
    if (earlier === undefined || isSmaller(entry, earlier)) this.#events.set(entry.uuid, entry);
  }
}

function isSmaller(a: ListedEvent, b: ListedEvent): boolean {
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
