// Writes parts from blocks of lines that come one after the other, perhaps over hours.

import { createHash } from "node:crypto";
import type { Store } from "../../storage/store.ts";
import { MAKE_AGAIN } from "./damaged.ts";
import { FileHash } from "./file-hash.ts";
import { GzipMember } from "./gzip/gzip-member.ts";
import { type DeflatedBlock, deflated, type LineBlock } from "./gzip/line-blocks.ts";
import { PartBody } from "./part-body.ts";
import type { WrittenPart } from "./part-info.ts";
import { verifyPart } from "./verify-part.ts";

const MAX_BYTES = 128 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface PartWriterOptions {
  readonly store: Store;
  readonly key: (index: number) => string;
  /** Uncompressed; a longer line is a part of its own. Default 128 MiB. */
  readonly maxBytes?: number;
}

/**
 * Cuts greedily between lines: a part is full when the next line would exceed the size. So the same lines give the same
 * parts, however they come in blocks. A part that exists already must hold exactly these lines: otherwise, throws
 * `STORE_CORRUPT`. Call `abort` after any error.
 */
export class PartWriter {
  readonly #store: Store;
  readonly #key: (index: number) => string;
  readonly #maxBytes: number;
  readonly #parts: WrittenPart[] = [];
  #open: OpenPart | undefined;

  constructor({ store, key, maxBytes = MAX_BYTES }: PartWriterOptions) {
    this.#store = store;
    this.#key = key;
    this.#maxBytes = maxBytes;
  }

  /** A block that is deflated, and wholly in one part, is taken over as it is. */
  async append(block: LineBlock | DeflatedBlock): Promise<void> {
    const { text } = block;
    for (let start = 0; start < text.length; ) {
      const end = endOfFitting(text, start, this.#maxBytes - (this.#open?.bytes ?? 0), !this.#open);
      if (end === start) {
        await this.#endPart();
        continue;
      }
      const isWhole = start === 0 && end === text.length && "deflated" in block;
      const next = isWhole ? block : await deflated(text.subarray(start, end));
      this.#open ??= new OpenPart(this.#store, this.#key(this.#parts.length));
      await this.#open.add(next);
      start = end;
    }
  }

  /** What was written. No lines, no part. */
  async finish(): Promise<readonly WrittenPart[]> {
    await this.#endPart();
    return this.#parts;
  }

  /** Leaves nothing of the part that is open. Parts before it stay. */
  async abort(error: unknown): Promise<void> {
    await this.#open?.abort(error);
  }

  async #endPart(): Promise<void> {
    if (this.#open) this.#parts.push(await this.#open.end());
    this.#open = undefined;
  }
}

/** Up to where whole lines have room; the first line has room in any case if it `mayExceed`. */
function endOfFitting(text: Buffer, start: number, room: number, mayExceed: boolean): number {
  if (text.length - start <= room) return text.length;
  const end = room > 0 ? text.subarray(start, start + room).lastIndexOf(NEWLINE) + 1 : 0;
  return end > 0 || !mayExceed ? start + end : text.indexOf(NEWLINE, start) + 1;
}

class OpenPart {
  readonly #store: Store;
  readonly #key: string;
  readonly #body = new PartBody();
  readonly #created: Promise<string | undefined>;
  readonly #hash = createHash("sha256");
  readonly #file = new FileHash();
  readonly #member = new GzipMember();
  #rows = 0;
  #bytes = 0;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
    this.#created = store.create(key, this.#body);
    const close = (): void => this.#body.close(); // a store may fail before it reads anything
    this.#created.then(close, close);
  }

  get bytes(): number {
    return this.#bytes;
  }

  async add(block: DeflatedBlock): Promise<void> {
    this.#hash.update(block.text);
    this.#bytes += block.text.length;
    this.#rows += linesOf(block.text);
    await this.#write(this.#member.add(block));
  }

  async end(): Promise<WrittenPart> {
    await this.#write(this.#member.end());
    this.#body.end();
    const file = this.#key.slice(this.#key.lastIndexOf("/") + 1);
    const part = { file, rows: this.#rows, bytes: this.#bytes, sha256: this.#hash.digest("hex") };
    if ((await this.#created) !== undefined) return { ...part, stored: this.#file.result() };
    return { ...part, stored: await verifyPart(this.#store, this.#key, part, { remedy: MAKE_AGAIN }) };
  }

  async abort(error: unknown): Promise<void> {
    this.#body.fail(error);
    await this.#created.catch(() => undefined);
  }

  /** The store's error shows here, at the latest in `end`. */
  async #write(chunk: Uint8Array): Promise<void> {
    this.#file.add(chunk);
    await this.#body.write(chunk);
    if (this.#body.isClosed) await this.#created;
  }
}

function linesOf(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}
