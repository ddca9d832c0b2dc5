// Reads one page of the list: finds the list in it, and takes its entries one by one. The page is scanned as Latin-1,
// one character for each byte, and never parsed as a whole: that would take many times its memory.

import { advise, setting } from "../../../errors/advice.ts";
import { SyncError } from "../../../errors/sync-error.ts";
import { isObject } from "../../../json/json-pointers.ts";
import {
  childAt,
  compact,
  elements,
  MalformedJson,
  type Member,
  members,
  OversizeJson,
  rootSpan,
  type Span,
} from "../../../json/json-scanner.ts";
import { AddressDoubt } from "../../requests/address-doubt.ts";
import {
  decodeText,
  describeValue,
  isUuid,
  notJson,
  parseBody,
  pointerTo,
  type ShownName,
} from "../shape.ts";
import { EventTexts } from "./listed-events.ts";

/** What one page has. */
export interface ListPage {
  /** The events in the page's order. */
  readonly events: EventTexts;
  /** How many entries have no valid uuid. */
  readonly rejected: number;
  /** The shape of the first of them. */
  readonly rejectedShape: string | undefined;
  /** How many entries say of themselves that they are not listed. */
  readonly unlisted: number;
  /** The page with its list emptied: JSON. */
  readonly beside: string;
  /** Where in the page the list is. */
  readonly path: readonly string[];
}

/** Over all pages of a list. */
export const MAX_ENTRIES = 1_000_000;

/** For one entry, and for all that is not the list: parsing may take many times the memory of the text. */
const MAX_PARSED_BYTES = 4 * 1_048_576;

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/**
 * Throws `UnusableBody` for what is not JSON in UTF-8, `OversizeJson` for more than `maxEntries` entries and for other
 * sizes over a limit, `UNEXPECTED_RESPONSE` for JSON in which there is no list.
 * @param pointer where the list is; undefined for the usual places: a top-level array, `data` as an array, `data` keyed by
 * uuid, or `data.events` as an array
 * @param listBefore where the list of the page before is: `null` there is a list without entries
 */
export function readListPage(
  bytes: Buffer,
  pointer: readonly string[] | undefined,
  shownName: ShownName,
  maxEntries = MAX_ENTRIES,
  listBefore?: readonly string[],
): ListPage {
  try {
    return new PageReader(bytes, shownName, maxEntries).read(pointer, listBefore);
  } catch (error) {
    throw error instanceof MalformedJson ? notJson() : error;
  }
}

/** A value, and the keys and indices that lead to it. */
interface Place {
  readonly path: readonly string[];
  readonly span: Span;
}

class PageReader {
  readonly #bytes: Buffer;
  readonly #text: string;
  readonly #shownName: ShownName;
  readonly #maxEntries: number;
  readonly #events = new EventTexts();
  #rejected = 0;
  #rejectedShape: string | undefined;
  #unlisted = 0;

  constructor(bytes: Buffer, shownName: ShownName, maxEntries: number) {
    this.#bytes = bytes;
    this.#shownName = shownName;
    this.#maxEntries = maxEntries;
    this.#text = bytes.toString("latin1");
  }

  read(pointer: readonly string[] | undefined, listBefore: readonly string[] | undefined): ListPage {
    const { length } = BYTE_ORDER_MARK;
    const begin = this.#bytes.subarray(0, length).equals(BYTE_ORDER_MARK) ? length : 0;
    const root: Place = { path: [], span: rootSpan(this.#text, begin) };
    const list =
      (pointer === undefined ? this.#usualList(root) : this.#listAt(root, pointer)) ??
      (listBefore && this.#nullAt(root, listBefore));
    if (list === undefined) throw this.#noList(root);
    const { path, span } = list;
    const isMap = this.#opening(span) === "{";
    const [before, after] = [this.#bytes.subarray(begin, span.start), this.#bytes.subarray(span.end)];
    if (before.length + after.length > MAX_PARSED_BYTES)
      throw new OversizeJson("has more than 4 MiB beside its entries");
    const beside = decodeText(before) + (isMap ? "{}" : "[]") + decodeText(after);
    parseBody(beside);
    if (isMap) for (const member of members(this.#text, span)) this.#take(member.value, this.#keyOf(member));
    else if (this.#opening(span) === "[") for (const entry of elements(this.#text, span)) this.#take(entry);
    return {
      events: this.#events,
      rejected: this.#rejected,
      rejectedShape: this.#rejectedShape,
      unlisted: this.#unlisted,
      beside,
      path,
    };
  }

  #usualList(root: Place): Place | undefined {
    if (this.#opening(root.span) === "[") return root;
    const data = this.#child(root, "data");
    if (data === undefined || this.#opening(data.span) === "[") return data;
    if (this.#opening(data.span) !== "{") return undefined;
    const { isList, hasUuid } = this.#keysOf(data);
    if (isList) return data;
    const events = this.#child(data, "events");
    const isEvents = events !== undefined && this.#opening(events.span) === "[";
    // Both at once: it is ambiguous which of the two is the list.
    return isEvents && !hasUuid ? events : undefined;
  }

  #nullAt(root: Place, path: readonly string[]): Place | undefined {
    const place = this.#placeAt(root, path);
    return place && this.#opening(place.span) === "n" ? place : undefined;
  }

  #listAt(root: Place, pointer: readonly string[]): Place | undefined {
    const place = this.#placeAt(root, pointer);
    if (place === undefined || this.#opening(place.span) === "[") return place;
    return this.#opening(place.span) === "{" && this.#keysOf(place).isList ? place : undefined;
  }

  #placeAt(root: Place, path: readonly string[]): Place | undefined {
    let place: Place | undefined = root;
    for (const token of path) place = place && this.#child(place, token);
    return place;
  }

  /** A list that is keyed by uuid has no other keys. */
  #keysOf({ span }: Place): { readonly isList: boolean; readonly hasUuid: boolean } {
    let isList = true;
    let hasUuid = false;
    for (const { key } of members(this.#text, span)) {
      if (isUuid(key)) hasUuid = true;
      else isList = false;
    }
    return { isList, hasUuid };
  }

  #child({ path, span }: Place, token: string): Place | undefined {
    const found = childAt(this.#text, span, token, (member) => this.#keyOf(member));
    return found && { path: [...path, token], span: found };
  }

  /** What a value's text begins with tells its type. */
  #opening({ start }: Span): string {
    return this.#text.charAt(start);
  }

  #keyOf({ keySpan: { start, end } }: Member): string {
    return String(parseBody(decodeText(this.#bytes.subarray(start, end))));
  }

  /** @param key of a list that is keyed by uuid */
  #take({ start, end }: Span, key?: string): void {
    if (this.#events.length + this.#rejected === this.#maxEntries)
      throw new OversizeJson(`has more than ${MAX_ENTRIES.toLocaleString("en")} entries`);
    if (end - start > MAX_PARSED_BYTES) throw new OversizeJson("has an entry of more than 4 MiB");
    const text = decodeText(this.#bytes.subarray(start, end));
    const entry = parseBody(text);
    const own = isObject(entry) ? (entry["uuid"] ?? undefined) : undefined;
    const isSame = typeof own === "string" && own.toLowerCase() === key?.toLowerCase();
    if (key !== undefined && own !== undefined && !isSame)
      throw new SyncError(
        "UNEXPECTED_RESPONSE",
        "The list is keyed by uuid, but an entry's own uuid differs from its key, so it is not clear which event it is.",
        {
          next: advise`Ask the service's operator, or set ${setting("listPointer")} to the place of the list.`,
        },
      );
    if (isObject(entry) && (entry["is_listed"] === false || entry["listed"] === false)) this.#unlisted += 1;
    const requestAs = isObject(entry) ? (own ?? key) : undefined;
    if (isUuid(requestAs)) this.#events.add(requestAs, compact(text));
    else {
      this.#rejected += 1;
      this.#rejectedShape ??= describeValue(text, this.#shownName);
    }
  }

  /** Text that is no JSON is unusable, whatever its shape. */
  #noList({ span: { start, end } }: Place): SyncError {
    const isSmall = end - start <= MAX_PARSED_BYTES;
    const text = isSmall ? decodeText(this.#bytes.subarray(start, end)) : this.#text.slice(start, end);
    const value = isSmall ? parseBody(text) : undefined;
    const shape = describeValue(text, this.#shownName);
    const listPointer = pointerTo(value, entriesOf, this.#shownName);
    const array = "it must be an array, or an object whose keys are uuids.";
    const place =
      listPointer === undefined
        ? advise`${setting("listPointer")} to the place of the list; ${array}`
        : advise`the place of the list: ${setting("listPointer", listPointer)}; ${array}`;
    return new AddressDoubt(
      "UNEXPECTED_RESPONSE",
      `The list of events was not found in the response, whose shape is ${shape}.`,
      {
        ifNew: advise`Check that ${setting("baseUrl")} is the service; if it is, set ${place}`,
        ifKnown: advise`Set ${place}`,
        fields: { shape, ...(listPointer === undefined ? {} : { listPointer }) },
      },
    );
  }
}

/** Of a list as a pointer may lead to; none of anything else. */
function entriesOf(value: unknown): number {
  if (Array.isArray(value)) return isObject(value[0]) && isUuid(value[0]["uuid"]) ? value.length : 0;
  return isObject(value) && Object.keys(value).every(isUuid) ? Object.keys(value).length : 0;
}
