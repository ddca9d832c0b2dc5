// Finds the next page in the Link headers of a response (RFC 8288).

import { SyncError } from "../../../errors/sync-error.ts";
import type { HttpResponse } from "../../http/transport.ts";
import { shownTarget } from "../../requests/redirect.ts";
import { type Link, readLinkHeader } from "./link-header.ts";

/**
 * The URL of the next page, undefined on the last one. Throws `UNEXPECTED_RESPONSE` if it leads to another origin,
 * if there are two, or if the header is unreadable.
 */
export function nextPage(headers: HttpResponse["headers"], page: URL): URL | undefined {
  const targets = new Set(
    (headers.get("link") ?? []).flatMap(nextTargets).map((target) => resolve(target, page)),
  );
  if (targets.size > 1) throw unexpected("name two different next pages");
  const [href] = targets;
  return href === undefined ? undefined : new URL(href);
}

function resolve(target: string, page: URL): string {
  const url = URL.parse(target, page.href);
  if (url === null) throw unexpected("name a next page that is not a URL");
  if (url.origin !== page.origin) {
    throw unexpected(
      `name a next page at ${shownTarget(url, page)}, but credentials go to ${page.origin} only`,
    );
  }
  return page.origin + url.pathname + url.search;
}

function nextTargets(header: string): string[] {
  const { links, unread } = readLinkHeader(header);
  // Other malformed links are ignored, but one that might be the next page must not be overlooked.
  if (unread.toLowerCase().includes("next")) throw unexpected("cannot be read");
  return links.filter(isNext).map(({ target }) => target);
}

function isNext({ parameters }: Link): boolean {
  // RFC 8288 §3.2: a link with another context is not about this page.
  if (parameters.has("anchor")) return false;
  return (parameters.get("rel") ?? "").toLowerCase().split(/\s/).includes("next");
}

function unexpected(problem: string): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The Link headers of the list ${problem}. The list cannot be read completely; ask the service's operator how it ` +
      "is paged.",
  );
}
