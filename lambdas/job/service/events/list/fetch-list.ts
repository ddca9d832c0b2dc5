// Fetches the whole list, page by page, along the Link headers, and merges the pages: distinct events in order.

import { SyncError } from "../../../errors/sync-error.ts";
import { OversizeJson } from "../../../json/json-scanner.ts";
import type { IsListed } from "../../../settings/values.ts";
import type { EventList, ListedEvent } from "../../event-service.ts";
import { type ApiClient, type ApiRequest, type BodyReader, endpoint } from "../../requests/api-client.ts";
import { requestName, unexpectedStatus } from "../../requests/failure.ts";
import { EventTexts, MAX_ENTRIES } from "./event-texts.ts";
import { type ListPage, ListReader } from "./list-reader.ts";
import { nextPage } from "./paging.ts";

interface ListOptions {
  readonly baseUrl: URL;
  readonly isListed: IsListed;
  readonly pointer: readonly string[] | undefined;
  /** Over all pages. */
  readonly capBytes: number;
}

const MAX_PAGES = 10_000;

/** The limits for all remaining pages together. */
interface Left {
  readonly bytes: number;
  readonly entries: number;
}

interface FetchedPage {
  readonly page: ListPage;
  readonly bytes: number;
  readonly next: URL | undefined;
}

export async function fetchList(
  client: Pick<ApiClient, "get">,
  options: ListOptions,
  signal?: AbortSignal,
): Promise<EventList> {
  const list = new EventListBuilder();
  const seen = new Set<string>();
  let leftBytes = options.capBytes;
  for (let url: URL | undefined = firstPage(options); url !== undefined; ) {
    if (seen.has(url.href)) throw endless("form a circle", options);
    if (seen.size === MAX_PAGES) throw endless(`continue after ${MAX_PAGES} pages`, options);
    seen.add(url.href);
    const left: Left = { bytes: leftBytes, entries: MAX_ENTRIES - list.received };
    const fetched: FetchedPage = await client.get(pageRequest(url, left, options), signal);
    leftBytes -= fetched.bytes;
    list.add(fetched.page, fetched.next !== undefined);
    url = fetched.next;
  }
  return list.finish();
}

function firstPage({ baseUrl, isListed }: ListOptions): URL {
  const url = endpoint(baseUrl, "/v1/events");
  if (isListed !== "any") url.searchParams.set("is_listed", isListed);
  return url;
}

function pageRequest(url: URL, left: Left, options: ListOptions): ApiRequest<FetchedPage> {
  return {
    url,
    kind: "other",
    bodyCapBytes: left.bytes,
    read: (bytes, headers) => {
      const reader = pageReader(url, left, options);
      reader.add(bytes);
      return reader.end(headers);
    },
    reader: () => pageReader(url, left, options),
    oversize: () => {
      throw endless(`are longer than ${options.capBytes} bytes`, options);
    },
    refused: (status) => {
      const request = requestName("GET", url);
      if (status !== 403) throw unexpectedStatus(request, status);
      throw new SyncError(
        "NOT_ENTITLED",
        `The account may not list events (${request} was answered with status 403). Ask the service's operator to ` +
          "license events for it.",
        { fields: { request, status } },
      );
    },
  };
}

function pageReader(url: URL, left: Left, options: ListOptions): BodyReader<FetchedPage> {
  const reader = new ListReader(options.pointer, left.entries);
  let bytes = 0;
  const explained = <Result>(read: () => Result): Result => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof OversizeJson)) throw error;
      throw unexpected(
        "The list of events",
        `${error.message}, and is not read further. Nothing was published. Check that --base-url is the service itself ` +
          "and --list-pointer leads to the events; if so, ask the service's operator.",
        options,
      );
    }
  };
  return {
    add: (piece) => {
      bytes += piece.length;
      explained(() => reader.add(piece));
    },
    end: (headers) => ({ page: explained(() => reader.end()), bytes, next: nextPage(headers, url) }),
  };
}

function endless(problem: string, options: ListOptions): SyncError {
  return unexpected(
    "The pages of the list of events",
    `${problem}. Nothing was published; ask the service's operator.`,
    options,
  );
}

function unexpected(what: string, problem: string, { baseUrl }: ListOptions): SyncError {
  const request = requestName("GET", endpoint(baseUrl, "/v1/events"));
  return new SyncError("UNEXPECTED_RESPONSE", `${what} (${request}) ${problem}`, { fields: { request } });
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
