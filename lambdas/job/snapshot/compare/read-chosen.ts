// Single rows of a snapshot's parts. The other lines are unzipped with their part, and never become text.

import type { Store } from "../../storage/store.ts";
import { damaged, RESTORE } from "../files/damaged.ts";
import { unzipped } from "../files/gzip/read-lines.ts";
import type { PartInfo } from "../files/part-info.ts";
import { parseRow, type Row } from "../rows/row.ts";
import { isRecordOf } from "./row-digests.ts";

const NEWLINE = 0x0a;

export interface ChosenRows {
  /** Counted from 0 in the whole snapshot, ascending. */
  readonly places: readonly number[];
  /** Of all rows of the snapshot, verified: each row that is read is verified by its own. */
  readonly digests: Buffer;
}

/**
 * A part without a chosen row is not opened, and one with some is read no further than the last of them. Throws
 * `STORE_CORRUPT` for a part that is missing, or has other rows at these places.
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export async function* readChosen(
  store: Store,
  prefix: string,
  parts: readonly PartInfo[],
  { places, digests }: ChosenRows,
  proceed: () => void,
): AsyncGenerator<Row, void, undefined> {
  let done = 0;
  let first = 0;
  for (const { file, rows } of parts) {
    const key = `${prefix}${file}`;
    const end = places.findIndex((place, index) => index >= done && place >= first + rows);
    const inPart = places.slice(done, end === -1 ? undefined : end);
    const wanted = inPart.map((place) => place - first);
    let found = 0;
    for await (const line of wanted.length === 0 ? [] : linesAt(store, key, wanted, proceed)) {
      const row = parseRow(line);
      if (!isRecordOf(digests, inPart[found] ?? 0, row)) throw notAsMade(key);
      found += 1;
      yield row;
    }
    if (found < wanted.length) throw notAsMade(key);
    done += found;
    first += rows;
  }
}

/** Fewer where the file has fewer. */
async function* linesAt(
  store: Store,
  key: string,
  places: readonly number[],
  proceed: () => void,
): AsyncGenerator<string, void, undefined> {
  const chunks = await store.open(key);
  if (chunks === undefined) throw damaged(key, "it is missing", RESTORE);
  let found = 0;
  let row = 0;
  let line: Uint8Array[] = []; // the beginning of a wanted line whose end has not come yet
  for await (const chunk of unzipped(chunks, { what: key, remedy: RESTORE })) {
    proceed();
    for (let start = 0; start < chunk.length; ) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline === -1 ? chunk.length : newline;
      const isWanted = row === places[found];
      if (isWanted)
        line.push(newline === -1 ? Buffer.from(chunk.subarray(start, end)) : chunk.subarray(start, end));
      start = end + 1;
      if (newline === -1) break;
      row += 1;
      if (!isWanted) continue;
      yield Buffer.concat(line).toString("utf8");
      line = [];
      found += 1;
      if (found === places.length) return;
    }
  }
}

function notAsMade(key: string): Error {
  return damaged(key, "its rows are not those that it was made of", RESTORE);
}
