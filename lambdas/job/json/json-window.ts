// The bytes of a JSON text that have arrived and are not read yet: it is read as it arrives, however long it is.

import { isUtf8 } from "node:buffer";
import { JsonDocument } from "./json-document.ts";

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
