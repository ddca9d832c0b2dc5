// How a page of the list says that another one follows: by its Link headers (RFC 8288), and by hints in its body.

import { SyncError } from "../../../errors/sync-error.ts";
import { formatPointer } from "../../../json/json-pointers.ts";
import type { HttpResponse } from "../../http/transport.ts";
import { shownTarget } from "../../requests/failure.ts";
import { isObject, type JsonObject } from "../shape.ts";

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

export interface PaginationHints {
  /** The largest total that the page states, and where. */
  readonly total: { readonly pointer: string; readonly count: number } | undefined;
  /** The place at which the page says that another one follows. */
  readonly next: string | undefined;
}

/** @param envelope the page with its list emptied. @param place where in it the list is */
export function paginationHints(envelope: unknown, place: readonly string[] = []): PaginationHints {
  const parent = place.slice(0, -1);
  const around = parent.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), envelope);
  let total: PaginationHints["total"];
  let next: string | undefined;
  for (const [path, object] of [...containers([], envelope), ...containers(parent, around)]) {
    for (const key of TOTALS) {
      const count = asCount(object[key]);
      if (count > (total?.count ?? 0)) total = { pointer: formatPointer([...path, key]), count };
    }
    const key = NEXT.find((name) => leadsOn(object[name])) ?? MORE.find((name) => object[name] === true);
    if (key !== undefined) next ??= formatPointer([...path, key]);
  }
  return { total, next };
}

/** A value if it is an object, the usual containers in it, and those in them. */
function* containers(
  path: readonly string[],
  value: unknown,
  levels = 2,
): Generator<readonly [readonly string[], JsonObject]> {
  if (!isObject(value)) return;
  yield [path, value];
  if (levels === 0) return;
  for (const key of CONTAINERS) yield* containers([...path, key], value[key], levels - 1);
}

function asCount(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : 0;
}

function leadsOn(value: unknown): boolean {
  if (isObject(value)) return Object.values(value).some((inner) => inner !== null && inner !== "");
  return typeof value === "number" || value === true || (typeof value === "string" && value !== "");
}
