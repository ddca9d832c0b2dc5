// What a page says of the others. The interface does not show how lists are paged (docs/service-interface.md §3.2), so all
// the usual names count: the table in docs/limits.md has them, and a test compares the two.

import { formatPointer } from "../../../json/json-pointers.ts";
import type { HttpResponse } from "../../http/transport.ts";
import { isObject, type JsonObject, type ShownName } from "../shape.ts";
import type { ListPage } from "./list-page.ts";

/** A statement, and the place of it: a JSON Pointer into the page, or the name of a header. */
interface Stated<Value> {
  readonly place: string;
  readonly value: Value;
  /** Of a count beside the place or the size of the page: the setting `nextPage` that probably asks for the next one. */
  readonly nextPage?: string | undefined;
}

// Names without case, `_`, `-`, `@` and `.`.
const NEXT =
  /^(?:odata)?next(?:(?:page|records?)?(?:url|uri|link|href|path|results|token|cursor|offset|start|marker)|page(?:number)?|key)?$|^(?:next)?continuation(?:token)?$|^resumptiontoken$/;
const MORE =
  /^(?:is|has)?(?:more|truncated|incomplete)(?:results|items|records|events|entries|data|pages)?(?:available)?$|^hasnext(?:page)?$/;
const LAST = /^(?:is)?(?:last(?:page)?|done)$/;
/** Where these are not so, they may be about the query and not about its pages: then no page is known to be the last. */
const OF_QUERY = /truncated|incomplete|done/;
const FAILED = /^(?:error|failed|failure)$/i;
const PAGES = /^(?:total|num|number)(?:of)?pages?(?:count)?$|^pages$|^pages?(?:count|total)$|^lastpage$/;
const TOTAL =
  /^(?:total|full|overall)(?:count|results?|items?|records?|elements?|events?|entries|hits|rows|size|number|found)?$|^num(?:ber)?(?:of)?(?:results?|items?|records?|elements?|events?|entries|hits|rows|found)$|^(?:odata|results?|items?|records?|elements?|events?|entries|hits|rows)?(?:count|total)$|^(?:hits|found)$/;
/** Only these cannot be the number on this page. */
const OF_ALL = /total|full|overall|found|odata/;
/** Objects that count something else than events. */
const OTHER_COUNTS = /ratelimit|^(?:limits?|quotas?|usage|shards|facets|aggregations)$/;
const LINKS = /^links?$/;
/** The members of a link. */
const ADDRESS = /^(?:href|url|uri|link)$/;
const RELATION = /^rel(?:ation)?$/;
/** Where a request that gets this object begins. */
const OFFSET = /^(?:offset|skip|start|startindex|from)$/;
/** The number or the size of this page. */
const OF_PAGE =
  /^(?:current|this)?page(?:number|index|no)?$|^(?:page)?(?:size|limit)$|^(?:items|results|records|events|entries)?perpage$/;
/** GraphQL names the next page so (Relay's connections), beside `hasNextPage`. */
const END_CURSOR = "endcursor";

/** Reads the members beside the list, and those of objects beside and around it, two levels deep; and headers. */
export function pageHints(
  { beside, path }: Pick<ListPage, "beside" | "path">,
  { status, headers }: Pick<HttpResponse, "status" | "headers">,
  shownName: ShownName,
): PageHints {
  const found = new PageHints(shownName);
  let around: unknown = JSON.parse(beside);
  found.readFailure(around);
  for (const [depth, key] of path.entries()) {
    found.readObject(path.slice(0, depth), around, key);
    [, around] = Object.entries(Object(around)).find(([name]) => name === key) ?? [];
  }
  found.readHeaders(status, headers);
  return found;
}

export class PageHints {
  /** The addresses of the next page, as they came. */
  readonly links: string[] = [];
  /** The largest number of events that it states. */
  total: Stated<number> | undefined;
  /** The largest number of pages. */
  pages: Stated<number> | undefined;
  /** It says that the service could not make all of it: the place. */
  failure: string | undefined;
  /** It says that it is the last one. */
  isLast = false;
  /** It says anything of all this: how many there are, or that none follows. */
  isStated = false;
  /** The first place that has what asks for the next page, and the first that only says that one follows. */
  #next: Stated<string> | undefined;
  #more: Stated<string> | undefined;
  readonly #shownName: ShownName;

  constructor(shownName: ShownName) {
    this.#shownName = shownName;
  }

  /** It says that another page follows, and gives no address. `value`: the setting `nextPage` that probably asks for it. */
  get more(): Stated<string> | undefined {
    return this.#next ?? this.#more;
  }

  /** @param page a page that is no object says nothing */
  readFailure(page: unknown): void {
    for (const [key, value] of isObject(page) ? Object.entries(page) : []) {
      const name = normalized(key);
      const isError = /^errors?$/.test(name) && (typeof value === "object" || typeof value === "string");
      const isFilled = isError && value !== null && Object.keys(value).length > 0;
      const isDenied = name === "success" && value === false;
      const isFailed = name === "status" && typeof value === "string" && FAILED.test(value);
      if (isFilled || isDenied || isFailed) this.failure ??= this.#shown([key]);
    }
  }

  /** @param skipped the member in which the list is */
  readObject(path: readonly string[], object: unknown, skipped?: string, levels = 2): void {
    if (!isObject(object)) return;
    for (const [key, value] of Object.entries(object)) {
      if (key === skipped) continue;
      const place = [...path, key];
      this.#readMember(place, value, object);
      // Links often stand one level below what they belong to.
      const isRead = levels > 0 || LINKS.test(normalized(key));
      if (isRead && !OTHER_COUNTS.test(normalized(key))) this.readObject(place, value, undefined, levels - 1);
    }
  }

  readHeaders(status: number, headers: HttpResponse["headers"]): void {
    const header = (name: string): string | undefined => headers.get(name.toLowerCase())?.[0]?.trim();
    for (const name of ["X-Total", "X-Total-Count", "X-WP-Total"]) this.#count("total", name, header(name));
    for (const name of ["X-Total-Pages", "X-WP-TotalPages"]) this.#count("pages", name, header(name));
    for (const parameter of ["Page", "Cursor"]) {
      const name = `X-Next-${parameter}`;
      const value = header(name);
      if (value !== undefined) this.#follow(name, `${parameter.toLowerCase()}={header:${name}}`, value);
    }
    // RFC 9110 §14.4, also with a unit that is not "bytes": `items 0-24/319`.
    const [, last, length] = /(?:-(\d+)|\*)\/(\d+)$/.exec(header("Content-Range") ?? "") ?? [];
    this.#count("total", "Content-Range", length);
    // RFC 9110 §15.3.7: a part. One that ends where all of it ends is the last.
    if (status === 206 && (last === undefined || Number(last) + 1 < Number(length)))
      this.#say(true, "status 206", () => "offset={received}");
  }

  #readMember(path: readonly string[], value: unknown, object: JsonObject): void {
    const name = normalized(path.at(-1));
    const place = this.#shown(path);
    if (NEXT.test(name)) this.#readNext(path, value);
    else if (LINKS.test(name) && Array.isArray(value)) this.#readLinks(value);
    else if (isTrueOrFalse(value) && (MORE.test(name) || LAST.test(name)))
      this.#say(
        /^true$/i.test(String(value)) === MORE.test(name),
        place,
        () => this.#asking(path.slice(0, -1), object),
        !OF_QUERY.test(name),
      );
    else if (PAGES.test(name) || (TOTAL.test(name) && normalized(path.at(-2)) === "pages"))
      this.#count("pages", place, value);
    else if (TOTAL.test(name)) this.#count("total", place, value, OF_ALL.test(name), countingBeside(object));
    // Some services name the next page so, and no number.
    else if (name === "offset" && typeof value === "string" && countOf(value) === undefined)
      this.#follow(place, `offset={${place}}`, value);
  }

  #readNext(path: readonly string[], value: unknown): void {
    const place = this.#shown(path);
    if (Array.isArray(value)) {
      this.isStated = true;
      for (const each of value) this.#readNext(path, each);
    } else if (isObject(value)) {
      this.isStated = true;
      const members = Object.entries(value);
      // Beside an address are words about it.
      const address = members.find(([key]) => ADDRESS.test(normalized(key)));
      for (const [key, inner] of address === undefined ? members : [address])
        this.#readNext([...path, key], inner);
    } else if (typeof value === "string" && /^(?:https?:\/\/|[/?])/i.test(value)) {
      this.isStated = true;
      this.links.push(value);
    } else this.#follow(place, `${parameterFor(path)}={${place}}`, value);
  }

  #readLinks(links: readonly unknown[]): void {
    for (const link of links.filter(isObject)) {
      const member = (names: RegExp): unknown =>
        Object.entries(link).find(([key]) => names.test(normalized(key)))?.[1];
      const address = member(ADDRESS);
      if (typeof address === "string" && /(?:^|\s)next(?:\s|$)/i.test([member(RELATION)].flat().join(" ")))
        this.links.push(address);
    }
  }

  /** A place for what asks for the next page. Numbers below 1, also as texts, name no page that could follow. */
  #follow(place: string, nextPage: string, value: unknown): void {
    this.isStated = true;
    const number = typeof value === "string" ? countOf(value) : value;
    const isNext =
      typeof number === "number" ? number > 0 : value === true || (typeof value === "string" && value !== "");
    if (isNext) this.#next ??= { place, value: nextPage };
  }

  /** @param endsList whether no more than this page follows where it says so */
  #say(isMore: boolean, place: string, nextPage: () => string, endsList = true): void {
    this.isStated = true;
    if (isMore) this.#more ??= { place, value: nextPage() };
    else this.isLast ||= endsList;
  }

  #count(what: "total" | "pages", place: string, value: unknown, isOfAll = true, nextPage?: string): void {
    const count = countOf(value);
    if (count === undefined) return;
    this.isStated ||= isOfAll;
    this[what] = larger(this[what], { place, value: count, nextPage });
  }

  /** How the page after the one that this object describes is probably asked for. */
  #asking(path: readonly string[], object: JsonObject): string {
    const cursor = Object.entries(object).find(
      ([key, value]) => normalized(key) === END_CURSOR && typeof value === "string" && value !== "",
    );
    if (cursor !== undefined) return `after={${this.#shown([...path, cursor[0]])}}`;
    return countingBeside(object) ?? "page={page}";
  }

  /** The path without the names that may be data; an index is none. */
  #shown(path: readonly string[]): string {
    return formatPointer(path.map((key) => (/^\d{1,7}$/.test(key) ? key : this.#shownName(key))));
  }
}

/** The first of two that are equal. */
export function larger(one: PageHints["total"], other: PageHints["total"]): PageHints["total"] {
  return one !== undefined && (other === undefined || one.value >= other.value) ? one : other;
}

function normalized(name = ""): string {
  return name.toLowerCase().replaceAll(/[_\-@.]/g, "");
}

function isTrueOrFalse(value: unknown): boolean {
  return typeof value === "boolean" || (typeof value === "string" && /^(?:true|false)$/i.test(value));
}

/** A count, also as `{"value": 120}` and as a text. By -1 services say that they do not know. */
function countOf(value: unknown): number | undefined {
  if (isObject(value)) return isObject(value["value"]) ? undefined : countOf(value["value"]);
  if (typeof value === "string") return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  return typeof value === "number" && value >= 0 ? value : undefined;
}

/** What the parameter is probably called that takes the value of this member: `next_page_token` is `page_token`. */
function parameterFor(path: readonly string[]): string {
  const name = path.at(-1) ?? "";
  const rest = name.replace(/^@?(?:odata\.)?next[_\-.]?(?=.)/i, "");
  if (/^next$/i.test(rest)) return "cursor";
  return /^token$/i.test(rest) ? name : rest.charAt(0).toLowerCase() + rest.slice(1);
}

/** How pages are probably asked for of which the object says where they begin, or which they are; undefined if it says neither. */
function countingBeside(object: JsonObject): string | undefined {
  const numbers = Object.keys(object).filter((key) => countOf(object[key]) !== undefined);
  const offset = numbers.find((key) => OFFSET.test(normalized(key)));
  if (offset !== undefined) return `${offset}={received}`;
  return numbers.some((key) => OF_PAGE.test(normalized(key))) ? "page={page}" : undefined;
}
