// Fetches the whole list, page by page. What is received is never taken for the whole where a page says that there is
// more.

import { shellWord } from "../../../errors/shown-text.ts";
import { SyncError } from "../../../errors/sync-error.ts";
import { columnText } from "../../../json/json-line.ts";
import { OversizeJson, valueAt } from "../../../json/json-scanner.ts";
import type { IsListed, NextPage, PageQuery } from "../../../settings/values.ts";
import type { EventList } from "../../event-service.ts";
import type { Address, HttpResponse } from "../../http/transport.ts";
import { type ApiClient, type ApiRequest, endpoint } from "../../requests/api-client.ts";
import { BadStatus, requestName, UnusableBody, unexpectedStatus } from "../../requests/failure.ts";
import type { ShownName } from "../shape.ts";
import { type ListPage, MAX_ENTRIES, readListPage } from "./list-page.ts";
import { EventListBuilder } from "./listed-events.ts";
import { namesNextPage, nextLink } from "./next-link.ts";
import { larger, type PageHints, pageHints } from "./page-hints.ts";

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
  client: Pick<ApiClient, "get">,
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

interface FetchedPage extends ListPage {
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
  #total: PageHints["total"];
  #pages: PageHints["pages"];
  #isStated = false;
  /** A page before has said that another one follows. */
  #hasSaidMore = false;
  /** The place that the query names has had a value. */
  #hasHadValue = false;
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
    const { pointer, capBytes, timeoutMs, shownName } = this.#options;
    if (this.#requested.has(url.href))
      throw this.#unexpected("The pages of the list of events form a circle");
    if (this.#requested.size === MAX_PAGES)
      throw this.#unexpected(`The pages of the list of events continue after ${MAX_PAGES} pages`);
    this.#requested.add(url.href);
    return {
      url: this.#shown(url),
      kind: "other",
      bodyCapBytes: Math.min(capBytes.page, this.#leftBytes),
      timeLimit: { ms: timeoutMs, attempts: MOST_TIME_OUTS },
      read: (body, response) => {
        const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
        try {
          const page = readListPage(bytes, pointer, shownName, MAX_ENTRIES - this.#list.received);
          const hints = pageHints(page, response, shownName);
          if (hints.failure !== undefined)
            throw new UnusableBody(`a page of the list with an error at ${hints.failure}`);
          return { ...page, hints, headers: response.headers, bytes: bytes.length };
        } catch (error) {
          throw error instanceof OversizeJson ? this.#tooLarge(error.message) : error;
        }
      },
      oversize: () => {
        const { page, list } = capBytes;
        throw this.#tooLarge(
          `has more than ${page / MIB} MiB in a page, or ${list / MIB} MiB in all of them`,
        );
      },
      pending: (retryAfterMs) => new BadStatus(202, retryAfterMs),
      asksAgain: (status) => status === 403,
      refused: (status) => {
        if (this.#isBehindLast(status)) return undefined;
        throw this.#refused(requestName("GET", this.#shown(url)), status);
      },
    };
  }

  /** The address of the page that follows; undefined behind the last one. */
  take(url: URL, page: FetchedPage): URL | undefined {
    const query = this.#query;
    const { events, rejected, rejectedShape, unlisted, hints } = page;
    this.#leftBytes -= page.bytes;
    const isNew = this.#count === 0 || this.#list.hasNew(events);
    if (query !== undefined && !isNew) {
      // Some services count pages from 0, others from 1.
      const isNamedFirst = query.placeholder.kind === "page" && this.#requested.size === 2;
      if (isNamedFirst && events.length > 0) return this.#nextByQuery(query, page);
      if (this.#list.repeatsPage(events))
        throw this.#unexpected(
          `Two pages of the list of events in a row are the same: the service does not know the parameter ${query.parameter}`,
        );
    }
    this.#list.add(events, rejected);
    this.#count += 1;
    this.#rejectedShape ??= rejectedShape;
    this.#unlisted += unlisted;
    this.#withoutNew = isNew ? 0 : this.#withoutNew + 1;
    this.#total = larger(this.#total, hints.total);
    this.#pages = larger(this.#pages, hints.pages);
    this.#isStated ||= hints.isStated;
    const next = query ? this.#nextByQuery(query, page) : this.#nextByLink(url, page);
    this.#hasSaidMore ||= hints.more !== undefined;
    if (next !== undefined && this.#withoutNew === MAX_WITHOUT_NEW)
      throw this.#unexpected(
        `The pages of the list of events have brought no new event ${MAX_WITHOUT_NEW} times in a row`,
      );
    return next;
  }

  /** Throws `LIST_INCOMPLETE` if a page stated more than was received. */
  finish(): EventList {
    const { isListed, nextPage } = this.#options;
    const { received } = this.#list;
    const isTrusted = nextPage !== "links" && nextPage !== "none";
    const total = isTrusted ? this.#total : undefined;
    const short = (entries: number): SyncError | undefined =>
      total && total.value > entries
        ? this.#incomplete(
            `states a total of ${total.value} at ${total.place}`,
            (this.#count === 1 && nextPage === undefined && total.nextPage) || "links",
            entries,
          )
        : undefined;
    const error = short(received);
    if (error) throw error;
    if (isTrusted && this.#pages !== undefined && this.#pages.value > this.#count)
      throw this.#incomplete(`states ${this.#pages.value} pages at ${this.#pages.place}`, "page={page}");
    const place = this.#query?.placeholder.place;
    if (place !== undefined && !this.#hasHadValue)
      this.#warnings.push(
        `No page of the list has a value where --next-page (nextPage) looks for one, so only the first page was read: ${place}.`,
      );
    if (isListed === "true" && this.#unlisted > 0)
      this.#warnings.push(
        `${this.#unlisted} of ${received} entries say that they are not listed, although is_listed=true was asked for: the service ignores the filter, or loses it on a later page. They are read as the others are. Ask the service's operator.`,
      );
    const isUnsaid = nextPage === undefined && this.#count === 1 && !this.#isStated;
    const list = this.#list.finish();
    const incomplete = short(received - list.overlapping);
    return {
      ...list,
      rejectedShape: this.#rejectedShape,
      incomplete,
      warnings: this.#warnings,
      doubt: isUnsaid ? { why: "unsaid", entries: received, places: [] } : undefined,
    };
  }

  #nextByLink(url: URL, { events, rejected, hints, headers }: FetchedPage): URL | undefined {
    const { nextPage } = this.#options;
    if (nextPage === "none") {
      if (namesNextPage(hints.links, headers))
        this.#warnings.push(
          "The list of events names a next page, but --next-page (nextPage) is none: events that are on other pages only are not read.",
        );
      return undefined;
    }
    const next = nextLink(hints.links, headers, url, this.first);
    // A last page that names itself, or another one although it says that it is the last.
    if (events.length + rejected === 0 && (next?.href === url.href || hints.isLast)) return undefined;
    if (next === undefined && (nextPage === undefined || nextPage === "all") && hints.more)
      throw this.#incomplete(`says at ${hints.more.place} that more follow`, hints.more.value);
    return next;
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
          `has nothing at ${placeholder.place}, which --next-page (nextPage) names, but says at ${hints.more?.place ?? "a link"} that more follow`,
          hints.more?.value ?? "links",
        );
    } else if (isEmpty) return undefined;
    const isLast = !saysMore && (hints.isLast || (this.#hasSaidMore && hints.isStated));
    if (value === undefined || isLast) return undefined;
    const url = withQuery(this.first, [[parameter, value]]);
    return isEmpty && this.#requested.has(url.href) ? undefined : url;
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

  /** A total never ends a list, but it tells what a refusal means. */
  #isBehindLast(status: number): boolean {
    if (this.#query === undefined) return false;
    if (status !== 400 && status !== 404 && status !== 416) return false;
    return this.#total?.value === this.#list.received || this.#pages?.value === this.#count;
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

  /**
   * @param nextPage what probably fits
   * @param entries what came
   */
  #incomplete(what: string, nextPage: string, entries = this.#list.received): SyncError {
    const reason = nextPage === "links" ? "If it counts other events too" : "If that is how it is paged";
    return this.#error(
      "LIST_INCOMPLETE",
      `The list of events ${what}, and ${entries} entries were received. A partial snapshot is never published. ` +
        `${reason}, start again with --next-page ${shellWord(nextPage)} (nextPage in a settings file or cdk.json); else ` +
        "ask the service's operator how the list is paged.",
    );
  }

  #error(code: "UNEXPECTED_RESPONSE" | "LIST_INCOMPLETE", message: string): SyncError {
    const request = requestName("GET", this.first);
    return new SyncError(code, message, { fields: { request, received: this.#list.received } });
  }
}

/** The URL with more parameters, percent-encoded, a space too. */
function withQuery(url: URL, query: PageQuery["fixed"]): URL {
  const result = new URL(url);
  const added = query.map((pair) => pair.map(encodeURIComponent).join("="));
  result.search = [...(url.search === "" ? [] : [url.search]), ...added].join("&");
  return result;
}
