// A JSON text that is still UTF-8, searched where it is: a list may be a quarter of a gigabyte.
//
// Decoded as Latin-1, each byte is one character. Node.js keeps such a string outside the heap, its characters have
// the positions of the bytes, and the one scanner for texts finds values in it as fast as in any other.

import {
  afterValue,
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
import { afterWhite } from "./json-tokens.ts";

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
