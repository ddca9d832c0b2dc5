// Fetches the whole list, page by page. What is received is never taken for the whole where a page says that there is
// more.

import { SyncError } from "../../../errors/sync-error.ts";
import { columnText } from "../../../json/json-line.ts";
import { OversizeJson, valueAt } from "../../../json/json-scanner.ts";
import type { IsListed, NextPage, PageQuery } from "../../../settings/values.ts";
import type { EventList } from "../../event-service.ts";
import type { Address, HttpResponse } from "../../http/transport.ts";
import { type ApiRequest, endpoint } from "../../requests/api-client.ts";
import { BadStatus, requestName, UnusableBody } from "../../requests/failure.ts";
import type { ShownName } from "../shape.ts";
import { isOddEnd } from "./empty-page.ts";
import { doubtAt, nextPageCandidates } from "./list-doubt.ts";
import { incomplete, type ListFacts, refused, tooLarge, unexpected } from "./list-errors.ts";
import { MAX_ENTRIES } from "./list-page.ts";
import { EventListBuilder } from "./listed-events.ts";
import { namesNextPage, nextLink } from "./next-link.ts";
import { larger, type Stated, type StatedTotal } from "./page-hints.ts";
import { nextValue } from "./page-words.ts";
import { ASK, type FetchedPage, type PageClient, readFetchedPage } from "./read-page.ts";

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
  #failedAt: string | undefined;
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
      throw unexpected("The pages of the list of events form a circle", this.#facts);
    if (this.#requested.size === MAX_PAGES)
      throw unexpected(`The pages of the list of events continue after ${MAX_PAGES} pages`, this.#facts);
    this.#requested.add(url.href);
    let wasOdd = false;
    return {
      url: this.#shown(url),
      kind: "other",
      bodyCapBytes: Math.min(capBytes.page, this.#leftBytes),
      timeLimit: { ms: timeoutMs, attempts: MOST_TIME_OUTS },
      read: (body, response) => {
        const page = this.#readPage(url, body, response);
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
        throw tooLarge(
          `has more than ${page / MIB} MiB in a page, or ${list / MIB} MiB in all of them`,
          this.#facts,
        );
      },
      pending: (retryAfterMs) => new BadStatus(202, retryAfterMs),
      asksAgain: (status) => status === 403,
      refused: (status) => {
        if (this.#isReached) return undefined;
        throw refused(requestName("GET", this.#shown(url)), status, this.#count, this.#facts);
      },
    };
  }

  /** The address of the page that follows; undefined behind the last one. */
  take(url: URL, page: FetchedPage): URL | undefined {
    const query = this.#query;
    const { events, rejected, rejectedShape, unlisted, hints, bytes } = page;
    const isEmpty = page.entries === 0;
    this.#leftBytes -= bytes;
    const isNew = this.#count === 0 || this.#list.hasNew(events);
    if (!isNew && !isEmpty) {
      // Some services count pages from 0, others from 1.
      const isNamedFirst = query?.placeholder.kind === "page" && this.#requested.size === 2;
      if (isNamedFirst && events.length > 0) return this.#nextByQuery(query, page);
      // Some services repeat the last page behind it, or begin again.
      if (this.#isReached) return undefined;
      if (query !== undefined && this.#list.repeatsPage(events))
        throw unexpected(
          `Two pages of the list of events in a row are the same: the service does not know the parameter ${query.parameter}`,
          this.#facts,
        );
      // Some services begin each page with the event that was asked for: behind the last there is it alone.
      const isLastAgain = page.entries === 1 && events.at(0)?.requestAs === this.#list.last;
      if (query?.placeholder.kind === "last" && isLastAgain) return undefined;
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
    this.#failedAt ??= page.failedAt;
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
        `No page of the list has a value where the setting for the next page looks for one, so only the first page was read: ${place}.`,
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
    const areAllReached = isTotalReached || this.#pages?.value === this.#count;
    const end = { pages: this.#count, entries: received, last: this.#last, isOdd: this.#hasOddPage };
    const doubt = areAllReached ? undefined : doubtAt(end, nextPage);
    const places = this.#failedAt === undefined ? undefined : [this.#failedAt];
    return {
      ...list,
      rejectedShape: this.#rejectedShape,
      incomplete: short(received - list.overlapping),
      warnings: this.#warnings,
      isTotalReached,
      doubt: places ? { why: "failed", entries: received, places } : doubt,
      candidates: doubt && candidates,
    };
  }

  #readPage(
    url: URL,
    body: Uint8Array,
    { status, headers }: Pick<HttpResponse, "status" | "headers">,
  ): FetchedPage {
    const { pointer, shownName } = this.#options;
    try {
      return readFetchedPage(Buffer.from(body.buffer, body.byteOffset, body.length), {
        ...{ pointer, shownName, status, headers },
        ...{ url, first: this.first, before: this.#lastFilled, isBehindAll: this.#isReached },
        maxEntries: MAX_ENTRIES - this.#list.received,
      });
    } catch (error) {
      throw error instanceof OversizeJson ? tooLarge(error.message, this.#facts) : error;
    }
  }

  #isOdd(page: FetchedPage): boolean {
    const before = this.#lastFilled;
    if (page.entries > 0 || before === undefined || this.#isReached) return false;
    return isOddEnd(page, before, this.#query === undefined || this.#query.placeholder.place !== undefined);
  }

  #nextByLink(url: URL, page: FetchedPage): URL | undefined {
    const { hints, headers } = page;
    const { nextPage } = this.#options;
    if (nextPage === "none") {
      if (namesNextPage(hints.links, headers))
        this.#warnings.push(
          "The list of events names a next page, which the setting says not to ask for: events that are on other pages only are not read.",
        );
      return undefined;
    }
    const next = this.#linkIn(url, page);
    // A last page that names itself, or another one although it says that it is the last.
    if (page.entries === 0 && (next?.href === url.href || hints.end === "said")) return undefined;
    if (next === undefined && nextPage !== "links" && hints.more !== undefined)
      throw this.#incomplete(`says at ${hints.more} that more follow`);
    return next;
  }

  #linkIn(url: URL, { hints, headers }: FetchedPage): URL | undefined {
    try {
      return nextLink(hints.links, headers, url, this.first);
    } catch (error) {
      throw error instanceof SyncError ? error.with({ fields: { candidates: this.#candidates } }) : error;
    }
  }

  #nextByQuery({ parameter, placeholder }: PageQuery, page: FetchedPage): URL | undefined {
    const { hints, headers } = page;
    const isEmpty = page.entries === 0;
    const saysMore = hints.more !== undefined || namesNextPage(hints.links, headers);
    const value = this.#valueFor(placeholder, page);
    if (placeholder.place !== undefined) {
      this.#hasHadValue ||= value !== undefined;
      if (value === undefined && saysMore)
        throw this.#incomplete(
          `has nothing at ${placeholder.place}, where the setting for the next page looks, but says at ${hints.more ?? "a link"} that more follow`,
        );
    } else if (isEmpty && !saysMore && !this.#isShort) return undefined;
    const isLast = !saysMore && (hints.end === "said" || (this.#hasSaidMore && hints.end !== undefined));
    if (value === undefined || isLast) return undefined;
    const url = withQuery(this.first, [[parameter, value]]);
    if (!isEmpty || !this.#requested.has(url.href)) return url;
    this.#hasOddPage ||= placeholder.place === undefined;
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
        return nextValue(columnText(beside, valueAt(beside, placeholder.tokens)), this.#hasHadValue);
      case "header":
        return nextValue(headers.get(placeholder.name)?.[0]?.trim(), this.#hasHadValue);
    }
  }

  /** As much came as the pages state. That never ends a list, but tells what follows it. */
  get #isReached(): boolean {
    const { value, isExact } = this.#total ?? {};
    const isTotal = isExact && (value === this.#list.received || value === this.#list.distinct);
    return isTotal || this.#pages?.value === this.#count;
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

  /** A path that the service has named is not shown. */
  #shown({ href, origin, pathname, search }: URL): Address {
    const { pathname: own } = this.first;
    const isOwn = pathname.replace(/\/$/, "") === own;
    return { href, origin, pathname, search, ...(isOwn ? {} : { shownPath: `${own} (its next page)` }) };
  }

  #incomplete(what: string, entries = this.#list.received): SyncError {
    return incomplete(what, entries, this.#candidates, this.#facts);
  }

  get #facts(): ListFacts {
    return { request: requestName("GET", this.first), received: this.#list.received };
  }
}

/** The URL with more parameters, percent-encoded, a space too. */
function withQuery(url: URL, query: PageQuery["fixed"]): URL {
  const result = new URL(url);
  const added = query.map((pair) => pair.map(encodeURIComponent).join("="));
  result.search = [...(url.search === "" ? [] : [url.search]), ...added].join("&");
  return result;
}
