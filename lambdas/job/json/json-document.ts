// A JSON text that is still UTF-8, searched where it is: a list may be a quarter of a gigabyte.
//
// Decoded as Latin-1, each byte is one character. Node.js keeps such a string outside the heap, its characters have
// the positions of the bytes, and the one scanner for texts finds values in it as fast as in any other.

import { isUtf8 } from "node:buffer";
import { shownText } from "../errors/shown-text.ts";
import { SyncError } from "../errors/sync-error.ts";
import {
  afterValue,
  afterWhite,
  elements,
  type Key,
  keyAt,
  type Member,
  members,
  rootSpan,
  type ScanOptions,
  type Span,
  valueAt,
} from "./json-scanner.ts";

/** What is larger than this is no list of events; to walk it would take minutes or gigabytes. */
export const LIST: ScanOptions = { maxDepth: 1_000, maxChildren: 1_000_000, isUtf8: true };

export const BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";

/** Its methods throw `OversizeJson` for a text that is deeper than 1,000 levels, or wider than a million children. */
export class JsonDocument {
  readonly bytes: Buffer;
  readonly #text: string;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#text = bytes.toString("latin1");
  }

  /** The one value of the whole text. A byte order mark before it is skipped. */
  rootSpan(): Span {
    return rootSpan(this.#text, LIST, this.#text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0);
  }

  valueAt(pointer: readonly string[], from: Span): Span | undefined {
    return valueAt(this.#text, pointer, from, LIST);
  }

  elements(array: Span): Generator<Span, undefined> {
    return elements(this.#text, array, LIST);
  }

  members(object: Span): Generator<Member, undefined> {
    return members(this.#text, object, LIST);
  }

  /** How many bytes it has. */
  get length(): number {
    return this.bytes.length;
  }

  afterWhite(start: number): number {
    return afterWhite(this.#text, start);
  }

  afterValue(start: number): number {
    return afterValue(this.#text, start, LIST);
  }

  keyAt(start: number): Key {
    return keyAt(this.#text, start, LIST);
  }

  startsWith(prefix: string): boolean {
    return this.#text.startsWith(prefix);
  }

  /** What a value's text begins with tells its type. */
  firstCharacter({ start }: Pick<Span, "start">): string {
    return this.#text.charAt(start);
  }

  /** A part of the text, decoded. */
  decoded({ start, end }: Span): string {
    return this.bytes.toString("utf8", start, end);
  }
}

/** The decoded reference tokens; none for `""`, the whole document. Throws `CONFIG_INVALID`, because users write pointers. */
export function parsePointer(pointer: string): readonly string[] {
  if (pointer === "") return [];
  // RFC 6901 §3: every reference token is prefixed by a slash.
  if (!pointer.startsWith("/")) throw invalid(pointer, 'it must be empty or begin with "/"');
  return pointer
    .slice(1)
    .split("/")
    .map((token) => decode(token, pointer));
}

export function formatPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

// RFC 6901 §4: "~1" first, then "~0", so that "~01" becomes "~1" and not "/".
function decode(token: string, pointer: string): string {
  if (/~(?![01])/.test(token)) throw invalid(pointer, '"~" must be followed by 0 (for "~") or 1 (for "/")');
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

function invalid(pointer: string, problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", `${shownText(pointer)} is not a JSON Pointer: ${problem}.`, {
    fields: { pointer },
  });
}

/** The bytes of a JSON text that have arrived and are not read yet: it is read as it arrives, however long it is. */
const FIRST_CAPACITY = 16 * 1024;

/** The text is not UTF-8. */
export class MalformedUtf8 extends Error {
  override readonly name = "MalformedUtf8";
}

/** Copies what arrives, so pieces of one byte take one byte; holds no more than twice what is not read. */
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
   * What is not read. Valid until the next call of `add`. Throws `MalformedUtf8`.
   * @param isLast no more will arrive, so a character may not be cut off at the end
   */
  view(isLast: boolean): JsonDocument {
    const end = isLast ? this.#end : this.#end - cutOffBytes(this.#memory.subarray(this.#checked, this.#end));
    if (!isUtf8(this.#memory.subarray(this.#checked, end))) throw new MalformedUtf8();
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
