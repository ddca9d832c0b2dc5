// Reads one page of the list as it arrives: its events, and hints that more pages follow.

import { isUtf8 } from "node:buffer";
import { SyncError } from "../../../errors/sync-error.ts";
import { formatPointer } from "../../../json/json-pointers.ts";
import { JsonDocument, MalformedJson } from "../../../json/json-scanner.ts";
import type { ListedEvent, ListedEvents } from "../../event-service.ts";
import { isObject, type JsonObject, notJson, notUtf8, parseBody } from "../shape.ts";
import { MAX_ENTRIES } from "./event-texts.ts";
import { ListWalker } from "./list-walker.ts";

export interface ListPage {
  /** In the page's order. */
  readonly events: Iterable<ListedEvent> & Pick<ListedEvents, "length">;
  /** How many entries have no valid uuid. */
  readonly rejected: number;
  readonly hints: PaginationHints;
}

const BYTE_ORDER_MARK = { text: "\ufeff", start: 0, end: 3 } as const;
/** More is copied and scanned piece by piece. */
const PIECE_BYTES = 256 * 1_024;
/** So much is to be read at least, before it is worth a try. */
const WORTH_BYTES = 64 * 1_024;

/** Holds the page's events, and of its text never more than a few MiB. */
export class ListReader {
  readonly #walker: ListWalker;
  readonly #window = new JsonWindow();
  #isBegun = false;
  #wantedBytes = WORTH_BYTES;

  /** @param pointer where the list is; undefined for the usual places */
  constructor(pointer: readonly string[] | undefined, maxEntries = MAX_ENTRIES) {
    this.#walker = new ListWalker(pointer, maxEntries);
  }

  /**
   * Throws `UnusableBody` for text that is not JSON, and `OversizeJson` for more than `maxEntries` entries and for other
   * sizes over a limit. Nothing can be added after that.
   */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      this.#window.add(bytes.subarray(at, at + PIECE_BYTES));
      if (this.#window.length >= this.#wantedBytes) this.#walk(false);
    }
  }

  /** The page, once all of it was added. Throws as `add`, and `UNEXPECTED_RESPONSE` for JSON that is not a list. */
  end(): ListPage {
    this.#walk(true);
    const { list, envelope, shape } = readable(() => this.#walker.end());
    const value = envelope === undefined ? undefined : parseBody(envelope);
    if (list === undefined) throw unexpectedShape(shape);
    if (list.problem) throw list.problem;
    const { events, rejected, path } = list;
    return { events, rejected, hints: paginationHints(value, [path.slice(0, -1)]) };
  }

  #walk(isLast: boolean): void {
    readable(() => {
      const json = this.#window.view(isLast);
      const hasMark = !this.#isBegun && json.decoded(BYTE_ORDER_MARK) === BYTE_ORDER_MARK.text;
      const from = hasMark ? BYTE_ORDER_MARK.end : 0;
      this.#isBegun = true;
      this.#window.release(this.#walker.walk(json, from, isLast));
    });
    // A value that is cut off is scanned again from its beginning: with twice as much, so all of it costs little more than once.
    this.#wantedBytes = Math.max(WORTH_BYTES, this.#window.length * 2);
  }
}

function readable<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedJson) throw notJson();
    throw error;
  }
}

function unexpectedShape(shape: string): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `The list of events was not found in the response, whose shape is ${shape}. Set --list-pointer to its place, ` +
      "for example --list-pointer /data/items; it must be an array, or an object whose keys are uuids.",
    { fields: { shape } },
  );
}

const FIRST_CAPACITY = 16 * 1024;

/**
 * The bytes that have arrived and are not read yet. Copies what arrives, so pieces of one byte take one byte; holds no
 * more than twice what is not read.
 */
export class JsonWindow {
  #memory = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #start = 0;
  #end = 0;
  /** What lies before it is known to be UTF-8. */
  #checked = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  add(piece: Uint8Array): void {
    if (this.#end + piece.length > this.#memory.length) this.#makeRoom(this.length + piece.length);
    this.#memory.set(piece, this.#end);
    this.#end += piece.length;
  }

  /**
   * What is not read. Valid until the next call of `add`. Throws `UnusableBody` for malformed UTF-8.
   * @param isLast no more will arrive, so a character may not be cut off at the end
   */
  view(isLast: boolean): JsonDocument {
    const end = isLast ? this.#end : this.#end - cutOffBytes(this.#memory.subarray(this.#checked, this.#end));
    if (!isUtf8(this.#memory.subarray(this.#checked, end))) throw notUtf8();
    this.#checked = end;
    return new JsonDocument(this.#memory.subarray(this.#start, end));
  }

  /** So many bytes from the start are read. */
  release(bytes: number): void {
    this.#start += bytes;
  }

  #makeRoom(needed: number): void {
    let capacity = this.#memory.length;
    while (capacity < needed) capacity *= 2;
    const memory = capacity === this.#memory.length ? this.#memory : Buffer.allocUnsafeSlow(capacity);
    this.#memory.copy(memory, 0, this.#start, this.#end);
    this.#checked -= this.#start;
    this.#end -= this.#start;
    this.#start = 0;
    this.#memory = memory;
  }
}

/** How many bytes at the end begin a character that has more bytes (RFC 3629 §3); of malformed text any number up to 3. */
function cutOffBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
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

interface PaginationHints {
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
