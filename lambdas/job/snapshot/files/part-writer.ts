// Writes parts from blocks of lines that come one after the other, perhaps over hours.

import type { Store } from "../../storage/store.ts";
import { type DeflatedBlock, deflated, type LineBlock } from "./gzip/line-blocks.ts";
import { PartContent } from "./part-content.ts";
import { PartFile } from "./part-file.ts";
import type { WrittenPart } from "./part-info.ts";

/** Uncompressed. */
export const MAX_PART_BYTES = 128 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface PartWriterOptions {
  readonly store: Store;
  readonly key: (index: number) => string;
  /** Uncompressed; a longer line is a part of its own. Default 128 MiB. */
  readonly maxBytes?: number;
}

/** What a file gets next: bytes, or its end. */
type Step = { readonly bytes: Uint8Array } | { readonly end: PartContent };

/**
 * Cuts greedily between lines: a part is full when the next line would exceed the size. So the same lines give the same
 * parts, however they come in blocks. A part that exists already must hold exactly these lines: otherwise, throws
 * `STORE_CORRUPT`. Call `abort` after any error.
 */
export class PartWriter {
  readonly #store: Store;
  readonly #key: (index: number) => string;
  readonly #maxBytes: number;
  #content: PartContent | undefined;
  /** What was appended since the last `release`. */
  #held: Step[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #file: PartFile | undefined;
  #stop: { readonly error: unknown } | undefined;
  readonly #parts: WrittenPart[] = [];

  constructor({ store, key, maxBytes = MAX_PART_BYTES }: PartWriterOptions) {
    this.#store = store;
    this.#key = key;
    this.#maxBytes = maxBytes;
  }

  /** Compressed: what the store has not taken yet, and memory holds. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /**
   * Gives nothing to the store: call `release`. A block that is deflated, and wholly in one part, is taken over as it is;
   * its text is not used after this returns.
   */
  async append(block: LineBlock | DeflatedBlock): Promise<void> {
    const { text } = block;
    for (let start = 0; start < text.length; ) {
      const end = endOfFitting(text, start, this.#maxBytes - (this.#content?.bytes ?? 0), !this.#content);
      if (end === start) {
        this.#endContent();
        continue;
      }
      const isWhole = start === 0 && end === text.length && "deflated" in block;
      const next = isWhole ? block : await deflated(text.subarray(start, end));
      this.#content ??= new PartContent();
      this.#hold(this.#content.add(next));
      start = end;
    }
  }

  /** Writes what was appended until now, after what was released before. */
  release(): Promise<void> {
    const steps = this.#held;
    this.#held = [];
    const writing = this.#writing.then(() => this.#write(steps));
    writing.catch(() => undefined); // thrown again by whatever is called next
    this.#writing = writing;
    return writing;
  }

  /** Releases everything. Returns what was written. No lines, no part. */
  async finish(): Promise<readonly WrittenPart[]> {
    this.#endContent();
    await this.release();
    return this.#parts;
  }

  /** Leaves nothing of the part that is open. Parts before it stay. */
  async abort(error: unknown): Promise<void> {
    this.#stop ??= { error };
    await this.#file?.abort(error);
    await this.#writing.catch(() => undefined);
    await this.#file?.abort(error);
  }

  #hold(bytes: Uint8Array): void {
    this.#waitingBytes += bytes.length;
    this.#held.push({ bytes });
  }

  #endContent(): void {
    if (this.#content === undefined) return;
    this.#hold(this.#content.end());
    this.#held.push({ end: this.#content });
    this.#content = undefined;
  }

  async #write(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (this.#stop) throw this.#stop.error;
      this.#file ??= new PartFile(this.#store, this.#key(this.#parts.length));
      if ("bytes" in step) {
        await this.#file.write(step.bytes);
        this.#waitingBytes -= step.bytes.length;
      } else {
        this.#parts.push(await this.#file.end(step.end.info));
        this.#file = undefined;
      }
    }
  }
}

/** Up to where whole lines have room; the first line has room in any case if it `mayExceed`. */
function endOfFitting(text: Buffer, start: number, room: number, mayExceed: boolean): number {
  if (text.length - start <= room) return text.length;
  const end = room > 0 ? text.subarray(start, start + room).lastIndexOf(NEWLINE) + 1 : 0;
  return end > 0 || !mayExceed ? start + end : text.indexOf(NEWLINE, start) + 1;
}
