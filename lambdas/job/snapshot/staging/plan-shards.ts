// The lines of a plan, or of a list, in memory: compressed, shard by shard, because there may be a million of them.

import { deflateRawSync, inflateRawSync } from "node:zlib";
import { lineBytes } from "../files/gzip/line-digest.ts";

const FIRST_CAPACITY = 64 * 1024;
const NEWLINE = 0x0a;

export class PlanShards {
  readonly #shardSize: number;
  /** Compressed. */
  readonly #shards: Uint8Array[] = [];
  /** The last shard, while it is not full. */
  #open = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #openBytes = 0;
  #length = 0;

  constructor(shardSize: number) {
    this.#shardSize = shardSize;
  }

  /** Lines in all. */
  get length(): number {
    return this.#length;
  }

  get shards(): number {
    return Math.ceil(this.#length / this.#shardSize);
  }

  /** How many lines a shard has; none for an index without a shard. */
  sizeOf(index: number): number {
    return Math.max(0, Math.min(this.#shardSize, this.#length - index * this.#shardSize));
  }

  /** @param line without its newline */
  add(line: string): void {
    const end = this.#openBytes + lineBytes(line);
    if (end > this.#open.length) this.#grow(end);
    this.#open.write(line, this.#openBytes);
    this.#open.writeUInt8(NEWLINE, end - 1);
    this.#openBytes = end;
    this.#length += 1;
    if (this.#length % this.#shardSize !== 0) return;
    // Higher levels take several times as long and save a tenth.
    this.#shards.push(deflateRawSync(this.#open.subarray(0, end), { level: 1 }));
    this.#openBytes = 0;
  }

  /** Without their newlines. */
  *lines(index: number): Generator<string, void> {
    if (index < 0 || index >= this.shards) return;
    const shard = this.#shards[index];
    const bytes = shard ? inflateRawSync(shard) : this.#open.subarray(0, this.#openBytes);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.toString("utf8", start, end);
      start = end + 1;
    }
  }

  #grow(needed: number): void {
    const open = Buffer.allocUnsafeSlow(Math.max(needed, this.#open.length * 2));
    this.#open.copy(open, 0, 0, this.#openBytes);
    this.#open = open;
  }
}
