// A staged shard: what a run fetched of one slice of its plan, in plan order, and a trailer that proves it whole.

import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Store } from "../storage/store.ts";
import { damaged, MAKE_AGAIN } from "./damaged.ts";
import { gzipLines, readLines } from "./gzip-lines.ts";
import { jsonLine } from "./json-line.ts";
import { LineDigest } from "./line-digest.ts";

/** Why a listed event has no row: 404 or 410, 403, or a detail over the cap. */
const LEFT_OUT_REASONS = ["gone", "forbidden", "oversize"] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

export interface LeftOut {
  readonly uuid: string;
  readonly reason: LeftOutReason;
}

/** What came of one event: a row's line, or why there is none. */
export type StagedResult =
  | { readonly uuid: string; readonly line: string }
  | { readonly uuid: string; readonly leftOut: LeftOutReason };

/** The last line of the file. `sha256` is that of the row lines before it. */
export interface ShardTrailer {
  readonly shard: number;
  readonly rows: number;
  readonly left_out: readonly LeftOut[];
  readonly sha256: string;
}

export const leftOutSchema = z.object({ uuid: z.string(), reason: z.enum(LEFT_OUT_REASONS) });

const TRAILER = z.object({
  shard: z.int().nonnegative(),
  rows: z.int().nonnegative(),
  left_out: z.array(leftOutSchema),
  sha256: z.string(),
});

/** Results in plan order. A shard that is there already stands: whoever merges it verifies it. */
export async function writeShard(
  store: Store,
  key: string,
  index: number,
  results: AsyncIterable<StagedResult>,
): Promise<"created" | "exists"> {
  // Level 1: read once, gone in two weeks.
  const version = await store.create(key, gzipLines(shardLines(index, results), { level: 1 }));
  return version === undefined ? "exists" : "created";
}

/**
 * The shard's row lines as they were staged, then its trailer. Throws `STORE_CORRUPT` unless every expected
 * uuid is there exactly once, in order, with a row or left out. Most of that shows at the end only, so
 * nothing made of the lines, by the caller or by `onRow`, counts before this returns.
 */
export async function* readShard(
  store: Store,
  key: string,
  index: number,
  expectedUuids: readonly string[],
  onRow: (line: string) => void = () => undefined,
): AsyncGenerator<string, ShardTrailer, undefined> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw bad(key, "it is missing");
  const digest = new LineDigest();
  const withRow = new Set<string>();
  let next = 0; // where in the expected uuids the next row's may be
  let trailer: ShardTrailer | undefined;
  for await (const line of readLines(chunks, { what: key })) {
    if (trailer !== undefined) throw bad(key, "a line follows its last one");
    const uuid = uuidOf(line);
    if (uuid === undefined) {
      trailer = parseTrailer(line, key);
      continue;
    }
    const place = expectedUuids.indexOf(uuid, next);
    if (place === -1) throw bad(key, "it has a row that the plan does not have there");
    next = place + 1;
    withRow.add(uuid);
    digest.add(line);
    onRow(line);
    yield line;
  }

  if (trailer === undefined) throw bad(key, "its last line is missing");
  if (trailer.shard !== index) throw bad(key, `it says that it is shard ${trailer.shard}`);
  if (trailer.rows !== digest.rows) throw bad(key, "its rows are not as many as it says");
  if (trailer.sha256 !== digest.sha256()) throw bad(key, "its checksum does not match");
  const withoutRow = expectedUuids.filter((uuid) => !withRow.has(uuid));
  const leftOut = trailer.left_out.map(({ uuid }) => uuid);
  if (!isDeepStrictEqual(leftOut, withoutRow)) throw bad(key, "its events are not those of the plan");
  return trailer;
}

async function* shardLines(index: number, results: AsyncIterable<StagedResult>): AsyncGenerator<string> {
  const digest = new LineDigest();
  const leftOut: LeftOut[] = [];
  for await (const result of results) {
    if ("line" in result) {
      digest.add(result.line);
      yield result.line;
    } else leftOut.push({ uuid: result.uuid, reason: result.leftOut });
  }
  const trailer: ShardTrailer = {
    shard: index,
    rows: digest.rows,
    left_out: leftOut,
    sha256: digest.sha256(),
  };
  yield jsonLine(trailer);
}

const ROW_START = '{"uuid":"';

/** The uuid of a row's line, read off its fixed beginning: parsing every row again would only repeat work. */
function uuidOf(line: string): string | undefined {
  if (!line.startsWith(ROW_START)) return undefined;
  return line.slice(ROW_START.length, line.indexOf('"', ROW_START.length));
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
