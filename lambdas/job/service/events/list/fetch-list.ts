// Fetches the whole list, page by page. A page says by its Link headers (RFC 8288) that another one follows.

import { SyncError } from "../../../errors/sync-error.ts";
import { OversizeJson } from "../../../json/json-scanner.ts";
import type { IsListed } from "../../../settings/values.ts";
import type { EventList } from "../../event-service.ts";
import type { HttpResponse } from "../../http/transport.ts";
import { type ApiClient, type ApiRequest, endpoint } from "../../requests/api-client.ts";
import { requestName, shownTarget, unexpectedStatus } from "../../requests/failure.ts";
import { ListReader } from "./list-reader.ts";
import { EventListBuilder, type ListEntries, MAX_ENTRIES } from "./listed-events.ts";

interface ListOptions {
  readonly baseUrl: URL;
  readonly isListed: IsListed;
  readonly pointer: readonly string[] | undefined;
  /** Over all pages. */
  readonly capBytes: number;
}

const MAX_PAGES = 10_000;

interface FetchedPage {
  readonly entries: ListEntries;
  /** The page with its list emptied. */
  readonly envelope: unknown;
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
    const request = pageRequest(url, leftBytes, MAX_ENTRIES - list.received, options);
    const { entries, envelope, bytes, next }: FetchedPage = await client.get(request, signal).catch(tooLarge);
    leftBytes -= bytes;
    list.add(entries, envelope, next !== undefined);
    url = next;
  }
  return list.finish();

  function tooLarge(error: unknown): never {
    if (!(error instanceof OversizeJson)) throw error;
    throw unexpected(
      "The list of events",
      `${error.message}, and is not read further. Nothing was published. Check that --base-url is the service itself ` +
        "and --list-pointer leads to the events; if so, ask the service's operator.",
      options,
    );
  }
}

function firstPage({ baseUrl, isListed }: ListOptions): URL {
  const url = endpoint(baseUrl, "/v1/events");
  if (isListed !== "any") url.searchParams.set("is_listed", isListed);
  return url;
}

/** @param leftBytes for all remaining pages, as are the entries */
function pageRequest(
  url: URL,
  leftBytes: number,
  leftEntries: number,
  options: ListOptions,
): ApiRequest<FetchedPage> {
  return {
    url,
    kind: "other",
    bodyCapBytes: leftBytes,
    isLarge: true,
    reader: () => {
      const page = new ListReader(options.pointer, leftEntries);
      let bytes = 0;
      return {
        add: (piece) => {
          bytes += piece.length;
          page.add(piece);
        },
        end: (headers) => {
          const { entries, envelope } = page.end();
          return { entries, envelope, bytes, next: nextPage(headers, url) };
        },
      };
    },
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
