// Looks in the body of a list page for signs that more pages follow.

import { formatPointer } from "../../../json/json-pointer.ts";
import { isObject, type JsonObject } from "../json-text.ts";

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

/** @param envelope the page with its list emptied. @param extra pointers to more objects to search. */
export function paginationHints(
  envelope: unknown,
  extra: readonly (readonly string[])[] = [],
): PaginationHints {
  let total: PaginationHints["total"];
  let next: string | undefined;
  for (const [path, object] of containers(envelope, extra)) {
    for (const key of TOTALS) {
      const count = asCount(object[key]);
      if (count > (total?.count ?? 0)) total = { pointer: formatPointer([...path, key]), count };
    }
    const key = NEXT.find((name) => leadsOn(object[name])) ?? MORE.find((name) => object[name] === true);
    if (key !== undefined) next ??= formatPointer([...path, key]);
  }
  return { total, next };
}

/** The envelope, the usual containers in it and in those, and what the extra pointers lead to. */
function* containers(
  envelope: unknown,
  extra: readonly (readonly string[])[],
): Generator<readonly [readonly string[], JsonObject]> {
  for (const path of [[], ...extra]) {
    const object = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), envelope);
    if (isObject(object)) yield* withContainers(path, object, 2);
  }
}

function* withContainers(
  path: readonly string[],
  object: JsonObject,
  levels: number,
): Generator<readonly [readonly string[], JsonObject]> {
  yield [path, object];
  if (levels === 0) return;
  for (const key of CONTAINERS) {
    const inner = object[key];
    if (isObject(inner)) yield* withContainers([...path, key], inner, levels - 1);
  }
}

function asCount(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : 0;
}

function leadsOn(value: unknown): boolean {
  if (isObject(value)) return Object.values(value).some((inner) => inner !== null && inner !== "");
  return typeof value === "number" || value === true || (typeof value === "string" && value !== "");
}
