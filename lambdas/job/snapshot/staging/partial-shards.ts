// What earlier starts finished of shards that they left unfinished: any of the plan's events, in plan order.

import * as z from "zod";
import { SyncError } from "../../errors/sync-error.ts";
import type { Store } from "../../storage/store.ts";
import { damaged, MAKE_AGAIN } from "../files/damaged.ts";
import { linesIn } from "../files/gzip/line-blocks.ts";
import { LineDigest } from "../files/gzip/line-digest.ts";
import { readStagedBlocks } from "../files/gzip/staged-blocks.ts";
import { type LeftOutReason, STAGED_TRAILER, type StagedResult, uuidOfLine } from "./staged-result.ts";

/** `plan` is the checksum of the plan that the rows were made for. */
const TRAILER = z.object({ plan: z.string(), ...STAGED_TRAILER });

/** Held in memory as the compressed file it is, and read once more from the beginning to the end as rows are taken. */
export class PartialShards {
  static readonly none = new PartialShards("", new Uint8Array(), new Set(), new Map());

  readonly #key: string;
  readonly #withRow: ReadonlySet<string>;
  readonly #leftOut: ReadonlyMap<string, LeftOutReason>;
  readonly #lines: AsyncGenerator<string, void>;

  private constructor(
    key: string,
    file: Uint8Array,
    withRow: ReadonlySet<string>,
    leftOut: ReadonlyMap<string, LeftOutReason>,
  ) {
    this.#key = key;
    this.#withRow = withRow;
    this.#leftOut = leftOut;
    this.#lines = linesOf(key, file);
  }

  /** Undefined where the file is damaged or belongs to another plan: it only saves requests. */
  static async read(store: Store, key: string, planSha256: string): Promise<PartialShards | undefined> {
    const stored = await store.read(key);
    if (stored === undefined) return undefined;
    try {
      const { withRow, trailer } = await verify(key, stored.bytes);
      if (trailer.plan !== planSha256) return undefined;
      const leftOut = new Map(trailer.left_out.map(({ uuid, reason }) => [uuid, reason]));
      return new PartialShards(key, stored.bytes, withRow, leftOut);
    } catch (error) {
      if (error instanceof SyncError && error.code === "STORE_CORRUPT") return undefined;
      throw error;
    }
  }

  /** How many events it has. */
  get size(): number {
    return this.#withRow.size + this.#leftOut.size;
  }

  has(uuid: string): boolean {
    return this.#withRow.has(uuid) || this.#leftOut.has(uuid);
  }

  /** The result of an event that it has. Call it in plan order, once for each event. */
  async take(uuid: string): Promise<StagedResult> {
    const leftOut = this.#leftOut.get(uuid);
    if (leftOut !== undefined) return { uuid, leftOut };
    for (let next = await this.#lines.next(); next.done !== true; next = await this.#lines.next()) {
      if (uuidOfLine(next.value) === uuid) return { uuid, line: next.value };
    }
    throw new Error(`${this.#key} has no row for an event that is asked for out of order`);
  }

  async close(): Promise<void> {
    await this.#lines.return();
  }
}

async function verify(
  key: string,
  file: Uint8Array,
): Promise<{ readonly withRow: ReadonlySet<string>; readonly trailer: z.infer<typeof TRAILER> }> {
  const digest = new LineDigest();
  const withRow = new Set<string>();
  let last = "";
  let end: string | undefined;
  for await (const line of linesOf(key, file)) {
    if (end !== undefined) throw bad(key, "a line follows its last one");
    const uuid = uuidOfLine(line);
    if (uuid === undefined) {
      end = line;
      continue;
    }
    if (uuid <= last) throw bad(key, "its rows are not in order");
    last = uuid;
    withRow.add(uuid);
    digest.add(line);
  }
  const trailer = parseTrailer(end ?? "", key);
  if (trailer.rows !== digest.rows) throw bad(key, "its rows are not as many as it says");
  if (trailer.sha256 !== digest.sha256()) throw bad(key, "its checksum does not match");
  return { withRow, trailer };
}

function parseTrailer(line: string, key: string): z.infer<typeof TRAILER> {
  try {
    return TRAILER.parse(JSON.parse(line));
  } catch {
    throw bad(key, "its last line is missing"); // the parser's own error quotes the line
  }
}

async function* linesOf(key: string, file: Uint8Array): AsyncGenerator<string, void> {
  for await (const { text } of readStagedBlocks(oneChunk(file), key)) yield* linesIn(text);
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function bad(key: string, problem: string): SyncError {
  return damaged(key, problem, MAKE_AGAIN);
}
