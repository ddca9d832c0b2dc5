// Fetches the whole list, page by page. What is received is never taken for the whole where a page says that there is
// more.

import { SyncError } from "../../../errors/sync-error.ts";
import { columnText } from "../../../json/json-line.ts";
import { OversizeJson, valueAt } from "../../../json/json-scanner.ts";
import type { IsListed, NextPage, PageQuery } from "../../../settings/values.ts";
import type { EventList, ListDoubt } from "../../event-service.ts";
import type { Address, HttpResponse } from "../../http/transport.ts";
import { type ApiRequest, endpoint } from "../../requests/api-client.ts";
import { BadStatus, requestName, UnusableBody, unexpectedStatus } from "../../requests/failure.ts";
import type { ShownName } from "../shape.ts";
import { failureBeside, failureOfEmpty, isOddEnd } from "./empty-page.ts";
import { type ListPage, MAX_ENTRIES, readListPage } from "./list-page.ts";
import { EventListBuilder } from "./listed-events.ts";
import { namesNextPage, nextLink } from "./next-link.ts";
import { nextPageCandidates } from "./next-page-candidates.ts";
import { larger, type PageHints, pageHints, type Stated, type StatedTotal } from "./page-hints.ts";

export interface ListOptions {
  readonly baseUrl: URL;
  readonly isListed: IsListed;
  readonly pointer: readonly string[] | undefined;
  /** Undefined: links are followed, and a hint that cannot be followed ends the run. */
  readonly nextPage: NextPage | undefined;
  /** `list`: of all pages. */
  readonly capBytes: { readonly page: number; readonly list: number };
  /** How long a page may take. */
  readonly timeoutMs: () => number;
  readonly shownName: ShownName;
}

const MIB = 1_048_576;
export const LIST_CAPS: ListOptions["capBytes"] = { page: 64 * MIB, list: 128 * MIB };
const MAX_PAGES = 10_000;
/** How many pages in a row may bring no new event. */
const MAX_WITHOUT_NEW = 20;

const MOST_TIME_OUTS = 2;

/** How a page behind the last one may be refused. */
const BEHIND_LAST: ReadonlySet<number> = new Set([400, 404, 416]);

/** In place of a body that has no content. */
const NO_PAGE = Buffer.from("[]");

const ASK = "Ask the service's operator.";
/** Asks for pages; undefined is the answer for one behind the last. */
export interface PageClient {
  get(request: ApiRequest<FetchedPage | undefined>, signal?: AbortSignal): Promise<FetchedPage | undefined>;
}

/** Throws `LIST_INCOMPLETE`, `UNEXPECTED_RESPONSE`, `NOT_ENTITLED`, and what the client throws. */
export async function fetchList(
  client: PageClient,
  options: ListOptions,
  signal?: AbortSignal,
): Promise<EventList> {
  const pages = new Pages(options);
  for (let url = pages.first; ; ) {
    const page = await client.get(pages.request(url), signal);
    const next = page && pages.take(url, page);
    if (next === undefined) return pages.finish();
    url = next;
  }
}

export interface FetchedPage extends ListPage {
  readonly hints: PageHints;
  readonly headers: HttpResponse["headers"];
  readonly bytes: number;
}

/** What has been received, and what follows it. */
class Pages {
  readonly first: URL;
  readonly #options: ListOptions;
  readonly #query: PageQuery | undefined;
  readonly #list = new EventListBuilder();
  /** The addresses that were requested. */
  readonly #requested = new Set<string>();
  #leftBytes: number;
  /** Of the list: the first page counts once, also where it comes twice. */
  #count = 0;
  #withoutNew = 0;
  #total: StatedTotal | undefined;
  #pages: Stated | undefined;
  /** A page before has said that another one follows. */
  #hasSaidMore = false;
  /** The place that the query names has had a value. */
  #hasHadValue = false;
  #last: FetchedPage | undefined;
  #lastFilled: FetchedPage | undefined;
  /** A page without entries came that is not as the end of a list is. */
  #hasOddPage = false;
  #rejectedShape: string | undefined;
  #unlisted = 0;
  readonly #warnings: string[] = [];

  constructor(options: ListOptions) {
    const { baseUrl, isListed, nextPage } = options;
    this.#options = options;
    this.#query = typeof nextPage === "object" ? nextPage : undefined;
    this.#leftBytes = options.capBytes.list;
    const filter: PageQuery["fixed"] = isListed === "any" ? [] : [["is_listed", isListed]];
    this.first = withQuery(endpoint(baseUrl, "/v1/events"), [...filter, ...(this.#query?.fixed ?? [])]);
  }

  /** Undefined is the answer for a page behind the last one. */
  request(url: URL): ApiRequest<FetchedPage | undefined> {
    const { capBytes, timeoutMs } = this.#options;
    if (this.#requested.has(url.href))
      throw this.#unexpected("The pages of the list of events form a circle");
    if (this.#requested.size === MAX_PAGES)
      throw this.#unexpected(`The pages of the list of events continue after ${MAX_PAGES} pages`);
    this.#requested.add(url.href);
    let wasOdd = false;
    return {
      url: this.#shown(url),
      kind: "other",
      bodyCapBytes: Math.min(capBytes.page, this.#leftBytes),
      timeLimit: { ms: timeoutMs, attempts: MOST_TIME_OUTS },
      read: (body, response) => {
        const page = this.#readPage(url, Buffer.from(body.buffer, body.byteOffset, body.length), response);
        const isOdd = this.#isOdd(page);
        // Once more: it may be a failure of the moment.
        if (isOdd && !wasOdd) {
          wasOdd = true;
          throw new UnusableBody(
            "a page of the list without entries, which is not as the page before it",
            ASK,
          );
        }
        this.#hasOddPage ||= isOdd;
        return page;
      },
      oversize: () => {
        const { page, list } = capBytes;
        throw this.#tooLarge(
          `has more than ${page / MIB} MiB in a page, or ${list / MIB} MiB in all of them`,
        );
      },
      pending: (retryAfterMs) => new BadStatus(202, retryAfterMs),
      refused: (status) => {
        if (BEHIND_LAST.has(status) && this.#isReached) return undefined;
        throw this.#refused(requestName("GET", this.#shown(url)), status);
      },
    };
  }

  /** The address of the page that follows; undefined behind the last one. */
  take(url: URL, page: FetchedPage): URL | undefined {
    const query = this.#query;
    const { events, rejected, rejectedShape, unlisted, hints, bytes } = page;
    const isEmpty = events.length + rejected === 0;
    this.#leftBytes -= bytes;
    const isNew = this.#count === 0 || this.#list.hasNew(events);
    if (!isNew && !isEmpty) {
      // Some services repeat the last page behind it.
      if (this.#isReached && this.#list.repeatsPage(events)) return undefined;
      // Some services count pages from 0, others from 1.
      const isNamedFirst = query?.placeholder.kind === "page" && this.#requested.size === 2;
      if (isNamedFirst && events.length > 0) return this.#nextByQuery(query, page);
      if (query !== undefined && this.#list.repeatsPage(events))
        throw this.#unexpected(
          `Two pages of the list of events in a row are the same: the service does not know the parameter ${query.parameter}`,
        );
    }
    this.#list.add(events, rejected);
    this.#count += 1;
    this.#last = page;
    if (!isEmpty) this.#lastFilled = page;
    this.#rejectedShape ??= rejectedShape;
    this.#unlisted += unlisted;
    this.#withoutNew = isNew && !isEmpty ? 0 : this.#withoutNew + 1;
    this.#total = larger(this.#total, hints.total);
    this.#pages = larger(this.#pages, hints.pages);
    const next = query ? this.#nextByQuery(query, page) : this.#nextByLink(url, page);
    this.#hasSaidMore ||= hints.more !== undefined;
    if (next === undefined) return undefined;
    const isCircle = this.#requested.has(next.href) && this.#isReached;
    this.#hasOddPage ||= this.#withoutNew >= MAX_WITHOUT_NEW;
    return isCircle || this.#withoutNew >= MAX_WITHOUT_NEW ? undefined : next;
  }

  /** Throws `LIST_INCOMPLETE` if a page stated more than was received. */
  finish(): EventList {
    const { isListed, nextPage } = this.#options;
    const { received } = this.#list;
    const isTrusted = nextPage !== "links" && nextPage !== "none";
    const total = isTrusted ? this.#total : undefined;
    const short = (entries: number): SyncError | undefined =>
      total && total.value > entries
        ? this.#incomplete(`states a total of ${total.value} at ${total.place}`, entries)
        : undefined;
    const error = short(received);
    if (error) throw error;
    if (isTrusted && this.#pages !== undefined && this.#pages.value > this.#count)
      throw this.#incomplete(`states ${this.#pages.value} pages at ${this.#pages.place}`);
    const place = this.#query?.placeholder.place;
    if (place !== undefined && !this.#hasHadValue)
      this.#warnings.push(
        `No page of the list has a value where --next-page (nextPage) looks for one, so only the first page was read: ${place}.`,
      );
    if (isListed === "true" && this.#unlisted > 0)
      this.#warnings.push(
        `${this.#unlisted} of ${received} entries say that they are not listed, although is_listed=true was asked for: the service ignores the filter, or loses it on a later page. They are read as the others are. Ask the service's operator.`,
      );
    const candidates = this.#candidates;
    const list = this.#list.finish();
    const distinct = list.events.length + list.rejected;
    const isTotalReached =
      this.#total?.isExact === true && this.#total.value >= distinct && this.#total.value <= received;
    const doubt = isTotalReached ? undefined : this.#doubt(received);
    return {
      ...list,
      rejectedShape: this.#rejectedShape,
      incomplete: short(received - list.overlapping),
      warnings: this.#warnings,
      isTotalReached,
      doubt,
      candidates: doubt && candidates,
    };
  }

  /** Why the list may not be whole, although its total is not known to be reached. */
  #doubt(entries: number): ListDoubt | undefined {
    const { nextPage } = this.#options;
    const { hints = undefined } = this.#last ?? {};
    if (this.#pages?.value === this.#count) return undefined;
    if (this.#hasOddPage) return { why: "empty", entries, places: [] };
    if (nextPage !== undefined && nextPage !== "all") return undefined;
    if (hints === undefined || hints.end !== undefined) return undefined;
    const limit = hints.limits.find(({ value }) => value === entries && value > 0);
    if (limit !== undefined && this.#count === 1)
      return { why: "limit", entries, places: [limit.place, ...hints.places] };
    const isEmpty = this.#last !== this.#lastFilled;
    if (nextPage === "all" || (this.#count > 1 && !isEmpty)) return undefined;
    return { why: this.#count > 1 ? "empty" : "unsaid", entries, places: hints.places };
  }

  #readPage(
    url: URL,
    bytes: Buffer,
    { status, headers }: Pick<HttpResponse, "status" | "headers">,
  ): FetchedPage {
    const { shownName } = this.#options;
    const before = this.#lastFilled;
    try {
      const page = this.#listIn(status === 204 && this.#count > 0 ? undefined : bytes);
      const entries = page.events.length + page.rejected;
      const isEnd = entries === 0 && this.#isReached;
      const failure =
        entries === 0 ? failureOfEmpty(page, before, shownName) : failureBeside(page, shownName);
      if (failure !== undefined && !isEnd)
        throw new UnusableBody(`a page of the list with an error at ${failure}`, ASK, {
          code: entries === 0 ? "LIST_INCOMPLETE" : "SERVICE_UNAVAILABLE",
        });
      const hints = pageHints(
        page,
        { status, headers },
        { page: url, first: this.first, entries },
        shownName,
      );
      return { ...page, hints, headers, bytes: bytes.length };
    } catch (error) {
      throw error instanceof OversizeJson ? this.#tooLarge(error.message) : error;
    }
  }

  /** @param bytes undefined for a page that has no content */
  #listIn(bytes: Buffer | undefined): ListPage {
    const { pointer, shownName } = this.#options;
    if (bytes === undefined) return readListPage(NO_PAGE, [], shownName);
    const before = this.#lastFilled;
    try {
      const maxEntries = MAX_ENTRIES - this.#list.received;
      return readListPage(bytes, pointer, shownName, maxEntries, before?.path);
    } catch (error) {
      const isWithoutList = error instanceof SyncError && error.fields["shape"] !== undefined;
      if (!isWithoutList || before === undefined) throw error;
      if (this.#isReached) return readListPage(NO_PAGE, [], shownName);
      throw new UnusableBody("a page in which there is no list", ASK, { code: "LIST_INCOMPLETE" });
    }
  }

  #isOdd(page: FetchedPage): boolean {
    const before = this.#lastFilled;
    if (page.events.length + page.rejected > 0 || before === undefined || this.#isReached) return false;
    const isNamed = this.#query === undefined || this.#query.placeholder.place !== undefined;
    return isOddEnd(page, before, isNamed);
  }

  #nextByLink(url: URL, page: FetchedPage): URL | undefined {
    const { events, rejected, hints, headers } = page;
    const { nextPage } = this.#options;
    if (nextPage === "none") {
      if (namesNextPage(hints.links, headers))
        this.#warnings.push(
          "The list of events names a next page, but --next-page (nextPage) is none: events that are on other pages only are not read.",
        );
      return undefined;
    }
    const next = this.#linkIn(url, page);
    // A last page that names itself, or another one although it says that it is the last.
    if (events.length + rejected === 0 && (next?.href === url.href || hints.end === "said")) return undefined;
    if (next === undefined && nextPage !== "links" && hints.more !== undefined)
      throw this.#incomplete(`says at ${hints.more} that more follow`);
    return next;
  }

  #linkIn(url: URL, { hints, headers }: FetchedPage): URL | undefined {
    try {
      return nextLink(hints.links, headers, url, this.first);
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      const { code, message, fields, cause } = error;
      throw new SyncError(code, message, { fields: { ...fields, candidates: this.#candidates }, cause });
    }
  }

  #nextByQuery({ parameter, placeholder }: PageQuery, page: FetchedPage): URL | undefined {
    const { events, rejected, hints, headers } = page;
    const isEmpty = events.length + rejected === 0;
    const saysMore = hints.more !== undefined || namesNextPage(hints.links, headers);
    const value = this.#valueFor(placeholder, page);
    if (placeholder.place !== undefined) {
      this.#hasHadValue ||= value !== undefined;
      if (value === undefined && saysMore)
        throw this.#incomplete(
          `has nothing at ${placeholder.place}, which --next-page (nextPage) names, but says at ${hints.more ?? "a link"} that more follow`,
        );
    } else if (isEmpty && !saysMore && !this.#isShort) return undefined;
    const isLast = !saysMore && (hints.end === "said" || (this.#hasSaidMore && hints.end !== undefined));
    if (value === undefined || isLast) return undefined;
    const url = withQuery(this.first, [[parameter, value]]);
    if (!isEmpty || !this.#requested.has(url.href)) return url;
    this.#hasOddPage ||= saysMore && placeholder.place === undefined;
    return undefined;
  }

  /** Undefined where the page has none. */
  #valueFor(placeholder: PageQuery["placeholder"], { beside, headers }: FetchedPage): string | undefined {
    switch (placeholder.kind) {
      case "page":
        return String(this.#requested.size);
      case "received":
        return String(this.#list.received);
      case "last":
        return this.#list.last;
      case "pointer":
        return columnText(beside, valueAt(beside, placeholder.tokens)) || undefined;
      case "header":
        return headers.get(placeholder.name)?.[0]?.trim() || undefined;
    }
  }

  /** As much came as the pages state. That never ends a list, but tells what follows it. */
  get #isReached(): boolean {
    const isTotal = this.#total?.isExact === true && this.#total.value === this.#list.received;
    return this.#count > 0 && (isTotal || this.#pages?.value === this.#count);
  }

  get #isShort(): boolean {
    return (this.#total?.value ?? 0) > this.#list.received || (this.#pages?.value ?? 0) > this.#count;
  }

  /** Values of `nextPage` that probably ask for the page after the last one that has entries. */
  get #candidates(): readonly string[] {
    const { hints } = this.#lastFilled ?? this.#last ?? {};
    const { received, last } = this.#list;
    return hints === undefined
      ? []
      : nextPageCandidates(hints, { pages: this.#count, entries: received, last });
  }

  #refused(request: string, status: number): SyncError {
    if (status === 403)
      return new SyncError(
        "NOT_ENTITLED",
        `The account may not list events (${request} was answered with status 403). Ask the service's operator to ` +
          "license events for it. If this address has never worked, check --base-url.",
        { fields: { request, status } },
      );
    if (this.#count === 0) return unexpectedStatus(request, status);
    return this.#unexpected(
      `${request} was answered with status ${status}, and no page says that the entries before it are all: ${this.#list.received}`,
    );
  }

  /** A path that the service has named is not shown. */
  #shown({ href, origin, pathname, search }: URL): Address {
    const { pathname: own } = this.first;
    const isOwn = pathname.replace(/\/$/, "") === own;
    return { href, origin, pathname, search, ...(isOwn ? {} : { shownPath: `${own} (its next page)` }) };
  }

  #unexpected(problem: string): SyncError {
    return this.#error(
      "UNEXPECTED_RESPONSE",
      `${problem}. Nothing was published. Check --next-page (nextPage), and ask the service's operator how the list is paged.`,
    );
  }

  #tooLarge(problem: string): SyncError {
    return this.#error(
      "UNEXPECTED_RESPONSE",
      `The list of events ${problem}, and is not read further. Nothing was published. Check that --base-url is the service ` +
        "itself and --list-pointer leads to the events; if so, ask the service's operator.",
    );
  }

  #incomplete(what: string, entries = this.#list.received): SyncError {
    return this.#error(
      "LIST_INCOMPLETE",
      `The list of events ${what}, and ${entries} entries were received. A partial snapshot is never published. Run \`check\`: ` +
        "it tries what asks for the next page, and names what worked for --next-page (nextPage). If no page is missing, set it to " +
        "links, which ignores such signs; else ask the service's operator how the list is paged.",
      this.#candidates,
    );
  }

  #error(
    code: "UNEXPECTED_RESPONSE" | "LIST_INCOMPLETE",
    message: string,
    candidates?: readonly string[],
  ): SyncError {
    const request = requestName("GET", this.first);
    const { received } = this.#list;
    return new SyncError(code, message, { fields: { request, received, ...(candidates && { candidates }) } });
  }
}

/** The URL with more parameters, percent-encoded, a space too. */
function withQuery(url: URL, query: PageQuery["fixed"]): URL {
  const result = new URL(url);
  const added = query.map((pair) => pair.map(encodeURIComponent).join("="));
  result.search = [...(url.search === "" ? [] : [url.search]), ...added].join("&");
  return result;
}
