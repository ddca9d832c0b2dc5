// The longest row: a longer one would fail every query of its table, not only queries that select it.

import { jsonLineBytes } from "../../json/json-line.ts";

/** Of a row's line in a file, in bytes: readers are configured for it. Two details of 4 MiB always fit. */
export const MAX_ROW_BYTES = 64 * 1024 * 1024;

/** The most that JSON makes of one UTF-16 code unit: `\u001f`. */
const MAX_BYTES_PER_UNIT = 6;

/**
 * Whether readers accept a row with these columns. Does not make the line, which could be longer than the longest
 * string: each column may repeat most of the event, and escapes multiply it.
 */
export function fitsRow(columns: Readonly<Record<string, string | null>>, maxBytes = MAX_ROW_BYTES): boolean {
  const names = Object.keys(columns);
  // Runs once per event, so without an array of the texts, which almost always are short enough at once.
  let units = 0;
  for (const name of names) units += name.length + (columns[name] ?? "null").length;
  const most = BRACES_AND_NEWLINE + 2 * names.length * FRAME_BYTES + units * MAX_BYTES_PER_UNIT;
  if (most <= maxBytes) return true;
  if (units > maxBytes) return false;
  const texts = names.flatMap((name) => [name, columns[name] ?? "null"]);
  let bytes = BRACES_AND_NEWLINE;
  for (const text of texts) {
    bytes += jsonLineBytes([text]);
    if (bytes > maxBytes) return false;
  }
  return true;
}

const BRACES_AND_NEWLINE = 3;
/** Of a text as the only element of an array; as the key or value of an object it has one byte less. */
const FRAME_BYTES = 4;
