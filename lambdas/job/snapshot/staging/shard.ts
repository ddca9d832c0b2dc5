// A staged shard: what a run fetched of one slice of its plan, in plan order, and a trailer that proves it whole.

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { Store } from "../../storage/store.ts";
import { damaged, MAKE_AGAIN } from "../files/damaged.ts";
import { type DeflatedBlock, type LineBlock, linesIn } from "../files/gzip/line-blocks.ts";
import { readStagedBlocks } from "../files/gzip/staged-blocks.ts";
import { type PartialShard, ShardWriter, type ShardWriterOptions } from "./shard-writer.ts";
import { type LeftOut, STAGED_TRAILER, type StagedResult, uuidOfLine } from "./staged-result.ts";

/** The last line of the file. `sha256` is that of the row lines before it. */
export interface ShardTrailer {
  readonly shard: number;
  readonly rows: number;
  readonly left_out: readonly LeftOut[];
  readonly sha256: string;
}

const TRAILER = z.object({ shard: z.int().nonnegative(), ...STAGED_TRAILER });

/** Where the finished work of a failed shard goes. */
export interface PartialShardKeeper extends Pick<ShardWriterOptions, "planSha256" | "restAfter"> {
  readonly keep: (partial: PartialShard) => Promise<void>;
}

/**
 * Takes results in plan order. Returns the events without a row. An existing shard stays as it is, and undefined is
 * returned. An error of `results` passes through unchanged, after `keeper` has kept what it can.
 */
export async function writeShard(
  store: Store,
  key: string,
  index: number,
  results: AsyncIterable<StagedResult>,
  keeper: PartialShardKeeper = KEEP_NOTHING,
  onBlock?: ShardWriterOptions["onBlock"],
): Promise<readonly LeftOut[] | undefined> {
  const shard = new ShardWriter({ index, results, onBlock, ...keeper });
  try {
    const version = await store.create(key, shard.body());
    return version === undefined ? undefined : shard.leftOut;
  } catch (error) {
    if (shard.partial) await keeper.keep(shard.partial);
    throw error;
  }
}

const KEEP_NOTHING: PartialShardKeeper = {
  planSha256: "",
  restAfter: () => undefined,
  keep: async () => undefined,
};

/**
 * The shard's rows as they were staged, then its trailer. Throws `STORE_CORRUPT` unless every expected uuid is there
 * exactly once, in order, with a row or left out. Most of that shows only at the end, so use nothing made of the rows,
 * by the caller or by `onRow`, before this returns.
 */
export async function* readShard(
  store: Store,
  key: string,
  index: number,
  expectedUuids: readonly string[],
  onRow: (line: string, place: number) => void = () => undefined,
): AsyncGenerator<LineBlock | DeflatedBlock, ShardTrailer, undefined> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw bad(key, "it is missing");
  const hash = createHash("sha256");
  const withRow = new Set<string>();
  let next = 0; // where in the expected uuids the next row's may be
  let trailer: ShardTrailer | undefined;
  for await (const block of readStagedBlocks(chunks, key)) {
    for (const line of linesIn(block.text)) {
      if (trailer !== undefined) throw bad(key, "a line follows its last one");
      const uuid = uuidOfLine(line);
      if (uuid === undefined) {
        trailer = parseTrailer(line, key);
        continue;
      }
      const place = expectedUuids.indexOf(uuid, next);
      if (place === -1) throw bad(key, "it has a row that the plan does not have there");
      next = place + 1;
      withRow.add(uuid);
      onRow(line, place);
    }
    const rows = trailer === undefined ? block : withoutLastLine(block);
    hash.update(rows.text);
    if (rows.text.length > 0) yield rows;
  }

  if (trailer === undefined) throw bad(key, "its last line is missing");
  if (trailer.shard !== index) throw bad(key, `it says that it is shard ${trailer.shard}`);
  if (trailer.rows !== withRow.size) throw bad(key, "its rows are not as many as it says");
  if (trailer.sha256 !== hash.digest("hex")) throw bad(key, "its checksum does not match");
  const withoutRow = expectedUuids.filter((uuid) => !withRow.has(uuid));
  const leftOut = trailer.left_out.map(({ uuid }) => uuid);
  if (!isDeepStrictEqual(leftOut, withoutRow)) throw bad(key, "its events are not those of the plan");
  return trailer;
}

/** Not deflated: an earlier version deflated the last rows together with the trailer. */
function withoutLastLine({ text }: LineBlock): LineBlock {
  return { text: text.subarray(0, text.lastIndexOf("\n", text.length - 2) + 1) };
}

function parseTrailer(line: string, key: string): ShardTrailer {
  try {
    return TRAILER.parse(JSON.parse(line));
  } catch {
    throw bad(key, "it holds a line that is neither a row nor its trailer"); // the parser's own error quotes the line
  }
}

function bad(key: string, problem: string): Error {
  return damaged(key, problem, MAKE_AGAIN);
}
