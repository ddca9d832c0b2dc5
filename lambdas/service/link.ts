// Finds the next page in the Link headers of an answer (RFC 8288).

import { SyncError } from "../errors/sync-error.ts";
import type { Answer } from "./transport.ts";

// RFC 8288 §3: "<" URI-Reference ">" *( ";" param ), param = token [ "=" ( token / quoted-string ) ].
const LINK =
  /[\s,]*<([^>]*)>((?:\s*;\s*[^\s=;,<>"]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)\s*(?=,|$)/y;
const PARAM = /;\s*([^\s=;,<>"]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g;

/**
 * The URL of the next page, undefined on the last one. Throws `UNEXPECTED_RESPONSE` where it leads to another
 * origin, where two are given, or where the header cannot be read.
 */
export function nextPage(headers: Answer["headers"], page: URL): URL | undefined {
  const targets = new Set(
    (headers.get("link") ?? []).flatMap(nextTargets).map((target) => resolve(target, page)),
  );
  if (targets.size > 1) throw unexpected("name two different next pages");
  const [href] = targets;
  return href === undefined ? undefined : new URL(href);
}

function resolve(target: string, page: URL): string {
  const url = URL.parse(target, page.href);
  if (url === null) throw unexpected("name a next page that is no URL");
  if (url.origin !== page.origin) {
    throw unexpected(
      `name a next page at ${url.origin}${url.pathname}, but credentials go to ${page.origin} only`,
    );
  }
  return page.origin + url.pathname + url.search;
}

function nextTargets(header: string): string[] {
  const targets: string[] = [];
  LINK.lastIndex = 0;
  let end = 0;
  for (let link = LINK.exec(header); link !== null; link = LINK.exec(header)) {
    end = LINK.lastIndex;
    const [, target = "", params = ""] = link;
    if (isNext(params)) targets.push(target);
  }
  // Links of other kinds may be as odd as they like; one that might be a next page must not be overlooked.
  if (/next/i.test(header.slice(end))) throw unexpected("cannot be read");
  return targets;
}

function isNext(params: string): boolean {
  const values = new Map<string, string>();
  for (const [, name = "", quoted, token = ""] of params.matchAll(PARAM)) {
    const key = name.toLowerCase();
    // RFC 8288 §3.3: of several rel parameters only the first counts.
    if (!values.has(key)) values.set(key, quoted?.replace(/\\(.)/g, "$1") ?? token);
  }
  // RFC 8288 §3.2: a link with another context does not speak of this page.
  if (values.has("anchor")) return false;
  return (values.get("rel") ?? "").toLowerCase().split(/\s+/).includes("next");
}

function unexpected(problem: string): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The Link headers of the list ${problem}. The list cannot be read to its end; ask the service's operator how it ` +
      "is paged.",
  );
}
