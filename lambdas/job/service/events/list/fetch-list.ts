// Fetches the whole list, page by page, along the Link headers, and merges the pages: distinct events in order.

import { SyncError } from "../../../errors/sync-error.ts";
import { OversizeJson } from "../../../json/json-scanner.ts";
import type { IsListed } from "../../../settings/values.ts";
import type { EventList, ListedEvent, ListedEvents } from "../../event-service.ts";
import type { HttpResponse } from "../../http/transport.ts";
import { type ApiClient, type ApiRequest, endpoint } from "../../requests/api-client.ts";
import { requestName, shownTarget, unexpectedStatus } from "../../requests/failure.ts";
import { EventTexts, MAX_ENTRIES } from "./event-texts.ts";
import { type ListPage, ListReader } from "./list-reader.ts";

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
    if (seen.has(url.href)) throw unexpected("form a circle", options);
    if (seen.size === MAX_PAGES) throw unexpected(`continue after ${MAX_PAGES} pages`, options);
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
      const reader = new PageReader(url, left, options);
      reader.add(bytes);
      return reader.end(headers);
    },
    reader: () => new PageReader(url, left, options),
    oversize: () => {
      throw unexpected(`are longer than ${options.capBytes} bytes`, options);
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

class PageReader {
  readonly #url: URL;
  readonly #options: ListOptions;
  readonly #reader: ListReader;
  #bytes = 0;

  constructor(url: URL, { entries }: Left, options: ListOptions) {
    this.#url = url;
    this.#options = options;
    this.#reader = new ListReader(options.pointer, entries);
  }

  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#explained(() => this.#reader.add(piece));
  }

  end(headers: HttpResponse["headers"]): FetchedPage {
    const page = this.#explained(() => this.#reader.end());
    return { page, bytes: this.#bytes, next: nextPage(headers, this.#url) };
  }

  #explained<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw error instanceof OversizeJson ? tooLarge(error.message, this.#options) : error;
    }
  }
}

function tooLarge(problem: string, { baseUrl }: ListOptions): SyncError {
  const request = requestName("GET", endpoint(baseUrl, "/v1/events"));
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The list of events (${request}) ${problem}, and is not read further. Nothing was published. Check that --base-url ` +
      "is the service itself and --list-pointer leads to the events; if so, ask the service's operator.",
    { fields: { request } },
  );
}

function unexpected(problem: string, { baseUrl }: ListOptions): SyncError {
  const request = requestName("GET", endpoint(baseUrl, "/v1/events"));
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The pages of the list of events (${request}) ${problem}. Nothing was published; ask the service's operator.`,
    { fields: { request } },
  );
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

/**
 * The URL of the next page, undefined on the last one. Throws `UNEXPECTED_RESPONSE` if it leads to another origin,
 * if there are two, or if the header is unreadable.
 */
export function nextPage(headers: HttpResponse["headers"], page: URL): URL | undefined {
  const targets = new Set(
    (headers.get("link") ?? []).flatMap(nextTargets).map((target) => resolve(target, page)),
  );
  if (targets.size > 1) throw unexpectedLink("name two different next pages");
  const [href] = targets;
  return href === undefined ? undefined : new URL(href);
}

function resolve(target: string, page: URL): string {
  const url = URL.parse(target, page.href);
  if (url === null) throw unexpectedLink("name a next page that is not a URL");
  if (url.origin !== page.origin) {
    throw unexpectedLink(
      `name a next page at ${shownTarget(url, page)}, but credentials go to ${page.origin} only`,
    );
  }
  return page.origin + url.pathname + url.search;
}

function nextTargets(header: string): string[] {
  const { links, unread } = readLinkHeader(header);
  // Other malformed links are ignored, but one that might be the next page must not be overlooked.
  if (unread.toLowerCase().includes("next")) throw unexpectedLink("cannot be read");
  return links.filter(isNext).map(({ target }) => target);
}

function isNext({ parameters }: Link): boolean {
  // RFC 8288 §3.2: a link with another context is not about this page.
  if (parameters.has("anchor")) return false;
  return (parameters.get("rel") ?? "").toLowerCase().split(/\s/).includes("next");
}

function unexpectedLink(problem: string): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The Link headers of the list ${problem}. The list cannot be read completely; ask the service's operator how it ` +
      "is paged.",
  );
}

interface Link {
  /** The text between the angle brackets. */
  readonly target: string;
  /** By name in lower case; of several with one name the first (RFC 8288 §3.3 for `rel`). */
  readonly parameters: ReadonlyMap<string, string>;
}

// RFC 8288 §3: `#( "<" URI-Reference ">" *( OWS ";" OWS [ link-param ] ) )`. One expression for all of it would take
// exponential time on a header of 200 characters: with optional white space around optional parts it tries every split.
const TARGET = /[ \t,]*<([^>]*)>/y;
/** `token BWS [ "=" BWS ( token / quoted-string ) ]`; servers put more into tokens than RFC 9110 §5.6.2 allows. */
const PARAMETER = /[ \t]*;[ \t]*(?:([^ \t=;,<>"]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^ \t;,"]*)))?)?/sy;
const END = /[ \t]*(?:,|$)/y;

/** The links of one Link header, and the text after the last readable one. */
function readLinkHeader(header: string): { readonly links: readonly Link[]; readonly unread: string } {
  const links: Link[] = [];
  for (let at = 0; ; at = END.lastIndex) {
    const [target] = matchAt(TARGET, header, at) ?? [];
    if (target === undefined) return { links, unread: header.slice(at) };
    const parameters = new Map<string, string>();
    let end = TARGET.lastIndex;
    for (let found = matchAt(PARAMETER, header, end); found; found = matchAt(PARAMETER, header, end)) {
      const [name, quoted, token = ""] = found;
      const key = name?.toLowerCase();
      // RFC 9110 §5.6.4: a backslash quotes the next character.
      if (key !== undefined && !parameters.has(key))
        parameters.set(key, quoted?.replaceAll(/\\(.)/gs, "$1") ?? token);
      end = PARAMETER.lastIndex;
    }
    if (matchAt(END, header, end) === undefined) return { links, unread: header.slice(at) };
    links.push({ target, parameters });
  }
}

/** The groups of a match that begins there. */
function matchAt(pattern: RegExp, text: string, at: number): (string | undefined)[] | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.slice(1);
}
