// Fetches the whole list, page by page, along the Link headers.

import { SyncError } from "../../../errors/sync-error.ts";
import { OversizeJson } from "../../../json/json-scanner.ts";
import type { IsListed } from "../../../settings/values.ts";
import type { EventList } from "../../event-service.ts";
import type { HttpResponse } from "../../http/transport.ts";
import { type ApiClient, type ApiRequest, type BodyReader, endpoint } from "../../requests/api-client.ts";
import { requestName, shownTarget, unexpectedStatus } from "../../requests/failure.ts";
import { EventListBuilder, type ListPage, ListReader } from "./event-list.ts";
import { MAX_ENTRIES } from "./list-entries.ts";

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

class PageReader implements BodyReader<FetchedPage> {
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

/**
 * Reads the links of one Link header (RFC 8288 §3), each character once.
 * A regular expression is unsuitable: with optional white space around optional parts it tries every split, which
 * takes exponential time on a header of 200 characters.
 */
interface Link {
  /** The text between the angle brackets. */
  readonly target: string;
  /** By name in lower case; of several with one name the first (RFC 8288 §3.3 for `rel`). */
  readonly parameters: ReadonlyMap<string, string>;
}

interface LinkHeader {
  readonly links: readonly Link[];
  /** The text after the last readable link; empty if all are readable. */
  readonly unread: string;
}

interface Read<T> {
  readonly value: T;
  /** The position after it. */
  readonly end: number;
}

/** `#( "<" URI-Reference ">" *( OWS ";" OWS [ link-param ] ) )`. */
function readLinkHeader(header: string): LinkHeader {
  const links: Link[] = [];
  let at = after(header, 0, " \t,");
  while (at < header.length) {
    const link = readLink(header, at);
    if (link === undefined) break;
    const next = after(header, link.end, " \t");
    if (next < header.length && header[next] !== ",") break;
    links.push(link.value);
    at = after(header, next, " \t,");
  }
  return { links, unread: header.slice(at) };
}

function readLink(header: string, start: number): Read<Link> | undefined {
  const close = header[start] === "<" ? header.indexOf(">", start) : -1;
  if (close === -1) return undefined;
  const parameters = new Map<string, string>();
  let at = close + 1;
  for (;;) {
    const semicolon = after(header, at, " \t");
    if (header[semicolon] !== ";")
      return { value: { target: header.slice(start + 1, close), parameters }, end: at };
    const nameStart = after(header, semicolon + 1, " \t");
    const nameEnd = before(header, nameStart, ' \t=;,<>"');
    at = nameEnd;
    if (nameEnd === nameStart) continue; // `;` with nothing after it
    const name = header.slice(nameStart, nameEnd).toLowerCase();
    const value = readValue(header, nameEnd);
    if (value === undefined) return undefined;
    if (!parameters.has(name)) parameters.set(name, value.value);
    at = value.end;
  }
}

/** `[ BWS "=" BWS ( token / quoted-string ) ]`; servers put more into tokens than RFC 9110 §5.6.2 allows. */
function readValue(header: string, start: number): Read<string> | undefined {
  const equals = after(header, start, " \t");
  if (header[equals] !== "=") return { value: "", end: start };
  const valueStart = after(header, equals + 1, " \t");
  if (header[valueStart] === '"') return readQuoted(header, valueStart);
  const end = before(header, valueStart, ' \t;,"');
  return { value: header.slice(valueStart, end), end };
}

/** RFC 9110 §5.6.4: a backslash quotes the next character. */
function readQuoted(header: string, start: number): Read<string> | undefined {
  let value = "";
  for (let at = start + 1; at < header.length; at += 1) {
    if (header[at] === '"') return { value, end: at + 1 };
    if (header[at] === "\\") at += 1;
    value += header[at] ?? "";
  }
  return undefined;
}

/** The first position from `start` on whose character is none of these. */
function after(text: string, start: number, characters: string): number {
  let at = start;
  while (at < text.length && characters.includes(text.charAt(at))) at += 1;
  return at;
}

/** The first position from `start` on whose character is one of these. */
function before(text: string, start: number, characters: string): number {
  let at = start;
  while (at < text.length && !characters.includes(text.charAt(at))) at += 1;
  return at;
}
