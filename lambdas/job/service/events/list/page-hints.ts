// What a page says of the others, in members beside its list and in headers. The interface does not show how lists are paged
// (docs/service-interface.md §3.2), so names are read by their words. A sign is strong where every word of its place is in the
// table, and decides; where only some are, it is weak: a person may look there.

import { formatPointer, isObject, type JsonObject } from "../../../json/json-pointers.ts";
import { parseUrl } from "../../../network/proxies.ts";
import type { HttpResponse } from "../../http/transport.ts";
import type { ShownName } from "../shape.ts";
import type { ListPage } from "./list-page.ts";
import {
  countOf,
  flagOf,
  headerWords,
  isBoolean,
  isInstant,
  isNothing,
  Name,
  parameterFor,
  parsed,
} from "./page-words.ts";

/** A number, and the place of it: a JSON Pointer into the page, or the name of a header. */
export interface Stated {
  readonly place: string;
  readonly value: number;
}

/** `isExact`: it is not a lower bound, and not the number on this page. */
export interface StatedTotal extends Stated {
  readonly isExact: boolean;
}

/** What may ask for the next page: what the parameter is probably called, where its value stands, and the value. */
export interface Clue {
  readonly parameter: string;
  readonly place: string;
  readonly value: string | number;
  readonly kind: "next" | "cursor" | "counted";
}

export interface PageHints {
  /** The addresses of the next page, as they came. */
  readonly links: readonly string[];
  /** The first place that says that another page follows, and gives no address. */
  readonly more: string | undefined;
  /** `said`: that it is the last one. `empty`: what names the next one is empty. */
  readonly end: "said" | "empty" | undefined;
  readonly total: StatedTotal | undefined;
  readonly pages: Stated | undefined;
  /** How many entries a page may have. */
  readonly limits: readonly Stated[];
  /** The places of weak signs. */
  readonly places: readonly string[];
  readonly clues: readonly Clue[];
}

/** How many entries a page has, its own address, and that of the first one. */
export interface PageFacts {
  readonly entries: number;
  readonly page: URL;
  readonly first: URL;
}

export function pageHints(
  { beside, path }: Pick<ListPage, "beside" | "path">,
  response: Pick<HttpResponse, "status" | "headers">,
  facts: PageFacts,
  shownName: ShownName,
): PageHints {
  const found = new HintReader(facts, shownName);
  let around: unknown = JSON.parse(beside);
  for (const [depth, key] of path.entries()) {
    const place = path.slice(0, depth);
    if (isObject(around)) found.readSurroundings(place, around, key);
    // What is in one array with the list is about it; lists in one array, and what is in them, are not.
    else if (depth === path.length - 1)
      for (const [index, each] of Object.entries(Object(around)))
        if (isObject(each)) found.readSurroundings([...place, index], each);
    [, around] = Object.entries(Object(around)).find(([name]) => name === key) ?? [];
  }
  found.readHeaders(response);
  return found;
}

/** The first of two that are equal. */
export function larger<Value extends Stated>(
  one: Value | undefined,
  other: Value | undefined,
): Value | undefined {
  return one !== undefined && (other === undefined || one.value >= other.value) ? one : other;
}

/** A member, and the names of the objects around it, up to those around the list. */
interface Place {
  readonly name: Name;
  readonly parent: Place | undefined;
  readonly path: readonly string[];
  /** In place of the path. */
  readonly header?: string | undefined;
  /** Every word around it is in the table, and nothing else is counted there. */
  readonly isClear: boolean;
}

/** What is nested more deeply is not about pages. */
const MAX_DEPTH = 6;
/** For one message. */
const MAX_PLACES = 5;

class HintReader implements PageHints {
  readonly links: string[] = [];
  more: string | undefined;
  end: "said" | "empty" | undefined;
  total: StatedTotal | undefined;
  pages: Stated | undefined;
  readonly limits: Stated[] = [];
  readonly places: string[] = [];
  readonly clues: Clue[] = [];
  readonly #facts: PageFacts;
  /** What asked for this page, and not for the first one. */
  readonly #sent: ReadonlySet<unknown>;
  readonly #shownName: ShownName;

  constructor(facts: PageFacts, shownName: ShownName) {
    this.#facts = facts;
    const { page, first } = facts;
    this.#sent = new Set(page.searchParams.values()).difference(new Set(first.searchParams.values()));
    this.#shownName = shownName;
  }

  /** @param skipped the member in which the list is */
  readSurroundings(path: readonly string[], object: JsonObject, skipped?: string): void {
    for (const [key, value] of Object.entries(object))
      if (key !== skipped) this.#read(this.#placeOf(key, path, undefined, true), value, object);
  }

  readHeaders({ status, headers }: Pick<HttpResponse, "status" | "headers">): void {
    for (const name of headers.keys()) {
      const text = headers.get(name)?.[0]?.trim() ?? "";
      const header = this.#shownName(name.replaceAll(/(?<![^-])[a-z]/g, (letter) => letter.toUpperCase()));
      const place = { ...this.#placeOf(headerWords(name), [], undefined, true), header };
      if (name !== "link") this.#read(place, text.startsWith("{") ? parsed(text) : text, {});
    }
    // RFC 9110 §14.4, also with a unit that is not "bytes": `items 0-24/319`.
    const [, last, length] =
      /(?:-(\d+)|\*)\/(\d+)$/.exec(headers.get("content-range")?.[0]?.trim() ?? "") ?? [];
    if (length !== undefined) this.#addTotal({ place: "Content-Range", value: Number(length) }, true);
    // RFC 9110 §15.3.7: a part. One that ends where all of it ends is the last.
    if (status !== 206 || Number(last) + 1 >= Number(length)) return;
    this.more ??= "status 206";
  }

  #placeOf(key: string, path: readonly string[], parent: Place | undefined, isClear: boolean): Place {
    return { name: new Name(key), parent, path: [...path, key], header: parent?.header, isClear };
  }

  #read(place: Place, value: unknown, object: JsonObject): void {
    const { name, path } = place;
    const isNext = outwards(place).some((each) => each.name.has("next"));
    // Brackets with nothing in them name as much as `null`.
    const isEmpty = typeof value === "object" && Object.keys(Object(value)).length === 0;
    if (isNext && isEmpty) this.#readNext(place, null);
    else if (Array.isArray(value)) {
      for (const [index, each] of value.entries())
        if (isNext) this.#read({ ...place, path: [...path, String(index)] }, each, {});
        else if (name.has("address") && isObject(each)) this.#readLink(each);
    } else if (isObject(value)) {
      if (path.length < MAX_DEPTH) this.#readObject(place, value, isNext);
    } else if (isNext) this.#readNext(place, value);
    else this.#readScalar(place, value, object);
  }

  #readObject(place: Place, object: JsonObject, isNext: boolean): void {
    const { name, path } = place;
    const members = Object.entries(object);
    // What stands beside an array of its own speaks of that array, and not of the list.
    const hasOwn = members.some(
      ([key, value]) =>
        Array.isArray(value) && value.length > 0 && !new Name(key).has("address", "cursor", "next", "page"),
    );
    const isOfList = name.isKnown && !name.has("more", "left", "end", "limit", "size");
    const isClear = place.isClear && !hasOwn && isOfList && (!isNext || name.isOfPages);
    const inner = members.map(([key, value]): [Place, unknown] => [
      this.#placeOf(key, path, place, isClear),
      value,
    ]);
    // Beside an address are words about it.
    const addresses = inner.filter(([each, value]) => isNext && each.name.has("address") && value);
    for (const [each, value] of addresses.length > 0 ? addresses : inner) this.#read(each, value, object);
  }

  /** The members of a link in an array of links. */
  #readLink(link: JsonObject): void {
    const member = (...names: readonly string[]): unknown =>
      Object.entries(link).find(([key]) => names.includes(key.toLowerCase().replace(/^@/, "")))?.[1];
    const address = member("href", "url", "uri", "link");
    const relation = [member("rel", "relation")].flat().join(" ");
    if (typeof address === "string" && /(?:^|\s)next(?:\s|$)/i.test(relation)) this.links.push(address);
  }

  /** What names the next page: nothing, an address, or what asks for it. */
  #readNext(place: Place, value: unknown): void {
    const { name } = place;
    const names = name.hasOnly("box") || name.has("cursor", "address", "page", "count", "next");
    // A flag is true or false: `has_next: "no"` is neither.
    const isFlag = typeof value !== "string" || isBoolean(value) || isNothing(value);
    const isSign = name.isOfPages && (isFlag || !name.has("filler"));
    const isLink = typeof value === "string" && this.#isLink(value, name);
    if (isLink && names && name.isKnown && (isStrong(place) || this.#leadsToList(value)))
      this.links.push(value);
    else if (!isStrong(place) || !names || !isSign || isInstant(value)) this.#note(place, value);
    else if (isNothing(value)) this.end ??= value === false && name.has("filler") ? "said" : "empty";
    else if (!this.#sent.has(value)) {
      this.#say(place, true);
      this.#addClue("next", parameterFor(name.text), place, value);
    }
  }

  #readScalar(place: Place, value: unknown, object: JsonObject): void {
    const { name } = place;
    const number = countOf(value);
    const flag = flagOf(value);
    if (name.has("more")) {
      if (typeof value === "string" && name.isKnown && this.#leadsToList(value)) this.links.push(value);
      else if (flag === undefined || (!flag && !name.hasWord("more"))) this.#note(place, value);
      else this.#say(place, flag);
    } else if (name.has("left")) {
      if (number === undefined || !name.has("entry", "page")) this.#note(place, value);
      else this.#say(place, number > 0);
    } else if (name.has("end") && isBoolean(value)) {
      // That the work is done does not say that the list is at its end.
      if (name.hasWord("final") || (flag && name.hasWord("done"))) this.#note(place, value);
      else this.#say(place, !flag);
    } else if (number !== undefined) this.#readNumber(place, number, object);
    else if (name.has("cursor", "end")) this.#noteCursor(place, value);
  }

  #readNumber(place: Place, value: number, object: JsonObject): void {
    // `{"total": {"value": 9}}`, `{"total": {"items": 9}}`
    const { parent } = place;
    const isInner = place.name.hasOnly("box") || (place.name.hasOnly("entry") && parent?.name.has("all"));
    const { name } = isInner && parent ? parent : place;
    const isPages = parent?.name.isPages === true && !name.has("entry");
    if (name.has("limit") || (name.has("size") && name.has("page"))) {
      if (isStrong(place) && !(place.header && !name.has("page", "entry")))
        this.limits.push({ place: this.#shown(place), value });
    } else if (name.has("page") || isPages) {
      const isNumber = name.has("all", "end") || name.hasWord("count") || (name.isPages && !isPages);
      if (isNumber && !name.has("cursor", "address"))
        this.pages = larger(this.pages, this.#stated(place, value));
    } else if (name.hasWord("offset") || name.hasWord("skip") || name.hasWord("start"))
      this.#addClue("counted", name.text, place, value);
    else if (name.has("cursor")) this.#noteCursor(place, value);
    else if (name.has("all", "whole") || name.hasWord("count") || (name.has("count") && name.has("entry"))) {
      const isOfAll = name.has("all", "whole");
      const relation = Object.entries(object).find(([key]) => /relation$/i.test(key))?.[1];
      const isBound = typeof relation === "string" && !/^eq/i.test(relation);
      if (name.hasOnly("whole")) this.#note(place, value);
      else this.#addTotal(this.#stated(place, value), !isBound && (isOfAll || value !== this.#facts.entries));
    } else if (name.has("size", "end") || name.hasOnly("entry")) this.#note(place, value);
  }

  #noteCursor(place: Place, value: unknown): void {
    const { name } = place;
    this.#note(place, value);
    if (isInstant(value)) return;
    // GraphQL's `endCursor` (Relay's connections) goes into `after`.
    this.#addClue("cursor", name.has("end") ? "after" : name.text, place, value);
  }

  #stated(place: Place, value: number): Stated | undefined {
    if (isStrong(place)) return { place: this.#shown(place), value };
    this.#note(place, value);
    return undefined;
  }

  #addTotal(stated: Stated | undefined, isExact: boolean): void {
    const total = stated && { ...stated, isExact };
    if (!isExact || this.total?.isExact === true || this.total?.value !== total?.value)
      this.total = larger(this.total, total);
    else this.total = total;
  }

  #say(place: Place, isMore: boolean): void {
    if (!isStrong(place)) this.#note(place, isMore);
    else if (isMore) this.more ??= this.#shown(place);
    else this.end = "said";
  }

  /** A weak sign. In a header one word alone is about the response, and what a limit is of is no list. */
  #note(place: Place, value: unknown): void {
    const { name, header } = place;
    const isOther = isInstant(value) || isOfOtherLimit(place);
    const isAlone = header !== undefined && !name.has("next", "more", "all", "count", "page");
    if (!isOther && !isAlone && this.places.length < MAX_PLACES) this.places.push(this.#shown(place));
  }

  #addClue(kind: Clue["kind"], parameter: string, place: Place, value: unknown): void {
    const shown = place.header ? `header:${place.header}` : formatPointer(place.path);
    const isShown = place.header !== undefined ? place.path.length === 1 : shown === this.#shown(place);
    if (typeof value !== "string" && typeof value !== "number") return;
    if (isShown && value !== "") this.clues.push({ kind, parameter, place: shown, value });
  }

  #isLink(text: string, name: Name): boolean {
    if (/^https?:\/\//i.test(text)) return true;
    return (/^[/?]/.test(text) && !name.has("cursor")) || this.#leadsToList(text);
  }

  /** Whether a text is the address of a page of the list itself, wherever it stands. */
  #leadsToList(text: string): boolean {
    if (!text.includes("?")) return false;
    const { page, first } = this.#facts;
    const { pathname = "", search = "" } = parseUrl(text, page.href) ?? {};
    const isOther = search !== "" && search !== page.search;
    return isOther && pathname.replace(/\/$/, "") === first.pathname;
  }

  /** Without the names that may be data; an index is none. */
  #shown({ header, path }: Place): string {
    const members = header === undefined ? path : path.slice(1);
    const shown = formatPointer(members.map((key) => (/^\d{1,7}$/.test(key) ? key : this.#shownName(key))));
    if (header === undefined) return shown;
    return members.length === 0 ? header : `${header} (${shown})`;
  }
}

/** A member, and the objects around it. */
function* outwards(place: Place): Generator<Place, undefined> {
  for (let each: Place | undefined = place; each; each = each.parent) yield each;
}

/** The sign is about a limit of something else than pages. */
function isOfOtherLimit(place: Place): boolean {
  return outwards(place).some(({ name }) => name.isOtherLimit || (name !== place.name && name.has("limit")));
}

function isStrong({ name, isClear }: Place): boolean {
  // `more_info` is no more of the list.
  return isClear && name.isKnown && (!name.has("box") || name.hasOnly("box"));
}
