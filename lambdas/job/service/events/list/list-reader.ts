// Reads one page of the list as it arrives: takes its entries one by one, and keeps what is beside them.

import { SyncError } from "../../../errors/sync-error.ts";
import { JsonDocument, MalformedJson, OversizeJson, type Span } from "../../../json/json-scanner.ts";
import { decodeText, describeValue, isUuid, notJson, parseBody } from "../shape.ts";
import { ListEntries, MAX_ENTRIES } from "./listed-events.ts";

/** A page that is read to its end. */
interface ReadPage {
  readonly entries: ListEntries;
  /** The page with its list emptied. */
  readonly envelope: unknown;
}

const BYTE_ORDER_MARK = Buffer.from("\ufeff");
/** More is copied and scanned piece by piece. */
const PIECE_BYTES = 256 * 1_024;
/** So much is to be read at least, before it is worth a try. */
const WORTH_BYTES = 64 * 1_024;
/** For one entry, and for all that is not the list: parsing may take many times the memory of the text. */
const MAX_PARSED_BYTES = 4 * 1_048_576;
/** An entry that is kept for the shape of what turns out to be no list. */
const MAX_EXAMPLE_CHARS = 1_000;

/** What comes next once all of it is there; the next window where it is not. */
type Reading<Result> = Generator<void, Result, void>;

/** Holds the page's events, and of its text never more than a few MiB. */
export class ListReader {
  readonly #maxEntries: number;
  /** Without a pointer: a top-level array, `data` as an array, `data` keyed by uuid, or `data.events` as an array. */
  readonly #isUsual: boolean;
  readonly #window = new JsonWindow();
  readonly #page: Reading<ListEntries | undefined>;
  /** The page without its entries, as far as it was read. */
  readonly #beside = new JsonWindow();
  /** Whether a comma belongs before what is kept there next. */
  #isValueKept = false;
  #hasList = false;
  /** What the window shows, and how much of it is read. */
  #json = this.#window.view();
  #at = 0;
  #isLast = false;
  #wantedBytes = WORTH_BYTES;

  /** @param pointer where the list is; undefined for the usual places */
  constructor(pointer: readonly string[] | undefined, maxEntries = MAX_ENTRIES) {
    this.#maxEntries = maxEntries;
    this.#isUsual = pointer === undefined;
    this.#page = this.#readPage(pointer ?? ["data"]);
  }

  /**
   * Throws `UnusableBody` for text that is not JSON, and `OversizeJson` for more than `maxEntries` entries and for other
   * sizes over a limit. Nothing can be added after that.
   */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      this.#window.add(bytes.subarray(at, at + PIECE_BYTES));
      if (this.#window.length >= this.#wantedBytes) this.#read(false);
    }
  }

  /** The page, once all of it was added. Throws as `add`, and `UNEXPECTED_RESPONSE` for JSON that is not a list. */
  end(): ReadPage {
    const list = this.#read(true);
    const beside = this.#beside.view();
    const envelope = parseBody(decodeText(beside.bytes));
    if (list === undefined) throw unexpectedShape(describeValue(beside));
    if (list.problem) throw list.problem;
    return { entries: list, envelope };
  }

  /** Reads as far as the text has come. The list, once that is its end. */
  #read(isLast: boolean): ListEntries | undefined {
    this.#json = this.#window.view();
    this.#isLast = isLast;
    try {
      return this.#page.next().value ?? undefined;
    } catch (error) {
      throw error instanceof MalformedJson ? notJson() : error;
    } finally {
      this.#window.release(this.#at);
      this.#at = 0;
      // A value that is cut off is scanned again from its beginning: with twice as much, so all of it costs little more than once.
      this.#wantedBytes = Math.max(WORTH_BYTES, this.#window.length * 2);
    }
  }

  *#readPage(pointer: readonly string[]): Reading<ListEntries | undefined> {
    const { length } = BYTE_ORDER_MARK;
    if (this.#json.bytes.subarray(0, length).equals(BYTE_ORDER_MARK)) this.#at = length;
    const list = yield* this.#listIn(pointer, []);
    for (;;) {
      this.#at = this.#json.afterWhite(this.#at);
      if (this.#at < this.#json.bytes.length) throw new MalformedJson("the end of the text", this.#at);
      if (this.#isLast) return list;
      yield;
    }
  }

  /** The list in the value that comes next, if there is one. @param tokens the way to it, which may be none */
  *#listIn(tokens: readonly string[], path: readonly string[]): Reading<ListEntries | undefined> {
    const opening = yield* this.#peek();
    if (opening !== "[" && opening !== "{") return yield* this.#skip();
    this.#at += 1;
    this.#keep(opening, { isValue: false });
    const list = yield* opening === "[" ? this.#listInArray(tokens, path) : this.#listInObject(tokens, path);
    this.#keep(opening === "[" ? "]" : "}");
    return list;
  }

  *#listInArray(tokens: readonly string[], path: readonly string[]): Reading<ListEntries | undefined> {
    const [token, ...rest] = tokens;
    const isList = token === undefined || this.#isUsual;
    const own = isList ? new ListEntries(path, this.#maxEntries) : undefined;
    this.#hasList ||= isList;
    let list = own;
    for (let count = 0; yield* this.#hasChild("]", count); count += 1) {
      if (own) yield* this.#take(own);
      else if (String(count) === token) list = yield* this.#listIn(rest, [...path, token]);
      else yield* this.#skip();
    }
    return list;
  }

  *#listInObject(tokens: readonly string[], path: readonly string[]): Reading<ListEntries | undefined> {
    const [token, ...rest] = tokens;
    const mayBeList = token === undefined;
    let own = mayBeList ? new ListEntries(path, this.#maxEntries) : undefined;
    let hasUuidKey = false;
    let list: ListEntries | undefined;
    for (let count = 0; yield* this.#hasChild("}", count); count += 1) {
      const name = yield* this.#name();
      const { key } = name;
      if (mayBeList && isUuid(key)) hasUuidKey = true;
      // A list that is keyed by uuid has no other keys.
      else own = undefined;
      if (own) {
        yield* this.#take(own, name);
        continue;
      }
      this.#keepKey(name);
      const isEvents = mayBeList && this.#isUsual && key === "events";
      // Of duplicate keys the last one counts.
      if (key === token || (isEvents && (yield* this.#peek()) === "["))
        list = yield* this.#listIn(rest, [...path, key]);
      else if (isEvents) list = yield* this.#skip();
      else yield* this.#skip();
    }
    // Both at once: it is ambiguous which of the two is the list.
    return own ?? (hasUuidKey ? undefined : list);
  }

  *#take(list: ListEntries, key?: Name): Reading<void> {
    this.#hasList = true;
    const { start, end } = yield* this.#next(afterValue, "entry");
    const text = decodeText(this.#json.bytes.subarray(start, end));
    if (list.length === 0 && text.length <= MAX_EXAMPLE_CHARS) {
      if (key) this.#keepKey(key);
      this.#keep(text);
    }
    list.take(text, key?.key);
  }

  /** Keeps a value in which there is no list. */
  *#skip(): Reading<undefined> {
    const { start, end } = yield* this.#next(afterValue);
    this.#keep(this.#json.bytes.subarray(start, end));
  }

  *#name(): Reading<Name> {
    const { start } = yield* this.#next((json, at) => json.keyAt(at).start);
    const { key, span } = this.#json.keyAt(start);
    return { key, text: decodeText(this.#json.bytes.subarray(span.start, span.end)) };
  }

  /** Whether another child comes, and not the bracket that closes. Takes that bracket, or the comma. */
  *#hasChild(closing: "]" | "}", count: number): Reading<boolean> {
    const character = yield* this.#peek();
    const isChild = character !== closing;
    if (isChild && count > 0 && character !== ",")
      throw new MalformedJson('"," or a closing bracket', this.#at);
    if (!isChild || count > 0) this.#at += 1;
    return isChild;
  }

  *#peek(): Reading<string> {
    const { start } = yield* this.#next(afterCharacter);
    this.#at = start;
    return this.#json.characterAt(start);
  }

  /** What comes next up to where `after` says, as soon as all of it has come. What is cut off changes nothing. */
  *#next(
    after: (json: JsonDocument, start: number) => number,
    kind: "entry" | "beside" = "beside",
  ): Reading<Span> {
    for (;;) {
      const json = this.#json;
      const { length } = json.bytes;
      const start = json.afterWhite(this.#at);
      this.#at = start;
      try {
        const end = after(json, start);
        this.#at = end;
        // What follows may belong to it: 12 may become 123.
        const isWhole = end < length || this.#isLast;
        if (isWhole && end - start <= MAX_PARSED_BYTES) return { start, end };
      } catch (error) {
        if (this.#isLast || !(error instanceof MalformedJson && error.isCutOff)) throw error;
      }
      this.#at = start;
      if (length - start > MAX_PARSED_BYTES) {
        if (kind === "entry") throw new OversizeJson("has an entry of more than 4 MiB");
        this.#keep(json.bytes.subarray(start)); // which is too much
      }
      yield;
    }
  }

  #keepKey({ text }: Name): void {
    this.#keep(`${text}:`, { isValue: false });
  }

  #keep(text: string | Uint8Array, { isValue = true } = {}): void {
    const isEnd = text === "]" || text === "}";
    if (this.#isValueKept && !isEnd) this.#beside.add(Buffer.from(","));
    this.#beside.add(typeof text === "string" ? Buffer.from(text) : text);
    this.#isValueKept = isValue;
    if (this.#beside.length <= MAX_PARSED_BYTES) return;
    if (this.#hasList) throw new OversizeJson("has more than 4 MiB beside its entries");
    const shape = describeValue(this.#beside.view());
    throw new OversizeJson(`has more than 4 MiB before any list of events (its shape so far is ${shape})`);
  }
}

interface Name {
  readonly key: string;
  /** As it came, in quotes. */
  readonly text: string;
}

function afterValue(json: JsonDocument, start: number): number {
  return json.afterValue(start);
}

function afterCharacter(json: JsonDocument, start: number): number {
  if (start === json.bytes.length) throw new MalformedJson("more text", start, true);
  return start + 1;
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

  get length(): number {
    return this.#end - this.#start;
  }

  add(piece: Uint8Array): void {
    if (this.#end + piece.length > this.#memory.length) this.#makeRoom(this.length + piece.length);
    this.#memory.set(piece, this.#end);
    this.#end += piece.length;
  }

  /** What is not read. Valid until the next call of `add`. */
  view(): JsonDocument {
    return new JsonDocument(this.#memory.subarray(this.#start, this.#end));
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
    this.#end -= this.#start;
    this.#start = 0;
    this.#memory = memory;
  }
}
