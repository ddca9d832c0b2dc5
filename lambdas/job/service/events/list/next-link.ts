// The address of the next page as links name it: those of Link headers (RFC 8288), and those in the page.

import { SyncError } from "../../../errors/sync-error.ts";
import { parseUrl } from "../../../network/proxies.ts";
import type { HttpResponse } from "../../http/transport.ts";
import { shownOrigin } from "../../requests/failure.ts";

/**
 * Undefined where no link names one. Throws `UNEXPECTED_RESPONSE` if it leads to another origin, if there are two, or if a
 * header is unreadable.
 * @param links those in the page, as they came
 * @param page the address of the page
 * @param first that of the first one
 */
export function nextLink(
  links: readonly string[],
  headers: HttpResponse["headers"],
  page: URL,
  first: URL,
): URL | undefined {
  const { targets, isReadable } = nextTargets(headers);
  // Other malformed links are ignored, but one that might be the next page must not be overlooked.
  if (!isReadable) throw unexpected("cannot be read");
  const all = [...targets, ...links];
  // A link that leads to the list itself counts before others: they may lack the path of a gateway, or be for people.
  const own = all.filter(
    (target) => parseUrl(target, page.href)?.pathname.replace(/\/$/, "") === first.pathname,
  );
  const found = (own.length > 0 ? own : all).map((target) => resolve(target, page, first));
  if (new Set(found.map(withSortedQuery)).size > 1) throw unexpected("name two different next pages");
  return found[0];
}

/** Whether a link names a next page, wherever that is. */
export function namesNextPage(links: readonly string[], headers: HttpResponse["headers"]): boolean {
  const { targets, isReadable } = nextTargets(headers);
  return links.length > 0 || targets.length > 0 || !isReadable;
}

/** Two links to one page may have its parameters in another order. */
function withSortedQuery({ pathname, search }: URL): string {
  return [pathname, ...search.slice(1).split("&").sort()].join("&");
}

function resolve(target: string, page: URL, first: URL): URL {
  const url = parseUrl(target, page.href);
  if (url === null) throw unexpected("name a next page that is not a URL");
  if (url.origin !== page.origin && !isWithoutTls(url, page))
    throw unexpected(`name a next page at ${shownOrigin(url)}, but credentials go to ${page.origin} only`);
  // The link without a user name, a password and a fragment.
  const own = new URL(page.origin + url.pathname + url.search);
  const filter = first.searchParams.get("is_listed");
  const isOfList = own.pathname.replace(/\/$/, "") === first.pathname;
  // Without its filter the list has other events from this page on.
  if (isOfList && filter !== null && !own.searchParams.has("is_listed"))
    // The rest may be signed, so it goes back as it came.
    own.search += `${own.search === "" ? "?" : "&"}is_listed=${filter}`;
  return own;
}

/** A service behind a load balancer that ends TLS may not know that it is asked with https. */
function isWithoutTls({ protocol, hostname, port }: URL, page: URL): boolean {
  return protocol === "http:" && hostname === page.hostname && port === page.port;
}

function unexpected(problem: string): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The links of the list ${problem}. The list cannot be read completely.`,
    { next: "Ask the service's operator how it is paged." },
  );
}

/** `isReadable`: no part that is malformed might name a next page. */
function nextTargets(headers: HttpResponse["headers"]): {
  readonly targets: readonly string[];
  readonly isReadable: boolean;
} {
  const read = (headers.get("link") ?? []).map(readLinkHeader);
  return {
    targets: read.flatMap(({ links }) => links.filter(isNext).map(({ target }) => target)),
    isReadable: !read.some(({ unread }) => unread.toLowerCase().includes("next")),
  };
}

function isNext({ parameters }: Link): boolean {
  // RFC 8288 §3.2: a link with another context is not about this page.
  if (parameters.has("anchor")) return false;
  return (parameters.get("rel") ?? "").toLowerCase().split(/\s/).includes("next");
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
/**
 * `token BWS [ "=" BWS ( token / quoted-string ) ]`; servers put more into tokens than RFC 9110 §5.6.2 allows, and some
 * write single quotes.
 */
const PARAMETER =
  /[ \t]*;[ \t]*(?:([^ \t=;,<>"]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^ \t;,"]*)))?)?/sy;
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
      const [name = "", quoted, single, token = ""] = found;
      const key = name.toLowerCase();
      // RFC 9110 §5.6.4: a backslash quotes the next character.
      if (!parameters.has(key)) parameters.set(key, quoted?.replaceAll(/\\(.)/gs, "$1") ?? single ?? token);
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
