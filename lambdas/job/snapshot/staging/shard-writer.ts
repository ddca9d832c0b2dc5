// Makes a shard's file. When its results fail, the finished ones become a file of their own.

import { createHash } from "node:crypto";
import { jsonLine } from "../../json/json-line.ts";
import { type DeflatedBlock, deflatedBlocks, type LineBlock, lineBlocks } from "../files/gzip/line-blocks.ts";
import { blockIn, stagedBlock } from "../files/gzip/staged-blocks.ts";
import type { LeftOut, StagedResult, StagedRow } from "./staged-result.ts";

/** Compressed. A larger shard is not kept when it fails: its bytes wait in memory until it is whole. */
const MAX_PARTIAL_BYTES = 16 * 1024 * 1024;

export interface ShardWriterOptions {
  readonly index: number;
  readonly planSha256: string;
  readonly results: AsyncIterable<StagedResult>;
  /** What else is finished when `results` fail, in plan order after those taken; undefined where nothing is to be kept. */
  readonly restAfter: (error: unknown) => AsyncIterable<StagedResult> | undefined;
  readonly maxPartialBytes?: number;
  /** Called for each block of rows, in order; the block's text is valid until it returns. Never rejects. */
  readonly onBlock?: ((block: DeflatedBlock) => Promise<void>) | undefined;
}

/** The finished work of a shard whose results failed. */
export interface PartialShard {
  readonly file: Uint8Array;
  /** Events with a row and those left out. */
  readonly events: number;
}

export class ShardWriter {
  readonly #options: ShardWriterOptions;
  /** A second reference to what goes to the store: keeping work costs no second compression. */
  #chunks: Uint8Array[] | undefined = [];
  #bytes = 0;
  readonly #hash = createHash("sha256");
  #rows = 0;
  #rowBlocks = 0;
  readonly #leftOut: LeftOut[] = [];
  #failure: { readonly error: unknown } | undefined;
  #isEnded = false;

  constructor(options: ShardWriterOptions) {
    this.#options = options;
  }

  /** The shard's file. An error of the results passes through unchanged, after the last of what is kept. */
  async *body(): AsyncGenerator<Uint8Array, void, undefined> {
    const { onBlock } = this.#options;
    let blocks = 0;
    for await (const block of deflatedBlocks(this.#blocks())) {
      const chunk = stagedBlock(block);
      this.#hold(chunk);
      if (this.#failure) continue;
      if (blocks < this.#rowBlocks) await onBlock?.(blockIn(chunk, block));
      blocks += 1;
      yield chunk;
    }
    this.#isEnded = true;
    if (this.#failure) throw this.#failure.error;
  }

  /** Of a body that has ended: the events without a row. */
  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** Set once the body has thrown an error of the results that leaves something worth keeping. */
  get partial(): PartialShard | undefined {
    if (!this.#isEnded || !this.#failure || !this.#chunks) return undefined;
    return { file: Buffer.concat(this.#chunks), events: this.#rows + this.#leftOut.length };
  }

  /** The last one has the trailer alone. */
  async *#blocks(): AsyncGenerator<LineBlock> {
    for await (const block of lineBlocks(this.#lines())) {
      this.#hash.update(block.text);
      this.#rowBlocks += 1;
      yield block;
    }
    const { index, planSha256 } = this.#options;
    const identity = this.#failure ? { plan: planSha256 } : { shard: index };
    const sha256 = this.#hash.digest("hex");
    yield* lineBlocks([jsonLine({ ...identity, rows: this.#rows, left_out: this.#leftOut, sha256 })]);
  }

  async *#lines(): AsyncGenerator<string> {
    const { results, restAfter } = this.#options;
    try {
      // One loop for all of it: every further layer costs time for each event.
      for await (const result of results) if (this.#add(result)) yield result.line;
    } catch (error) {
      const rest = this.#chunks && restAfter(error);
      if (rest === undefined) throw error;
      this.#failure = { error };
      yield* this.#readable(rest);
    }
  }

  /** As many as can be read: the error to report is the one before. */
  async *#readable(rest: AsyncIterable<StagedResult>): AsyncGenerator<string> {
    try {
      for await (const result of rest) if (this.#add(result)) yield result.line;
    } catch {
      return;
    }
  }

  #add(result: StagedResult): result is StagedRow {
    if ("line" in result) {
      this.#rows += 1;
      return true;
    }
    this.#leftOut.push({ uuid: result.uuid, reason: result.leftOut });
    return false;
  }

  #hold(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > (this.#options.maxPartialBytes ?? MAX_PARTIAL_BYTES)) this.#chunks = undefined;
    this.#chunks?.push(chunk);
  }
}
