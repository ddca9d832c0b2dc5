// A row of a snapshot (`docs/format.md`) and its line in a file.

import { SyncError } from "../../errors/sync-error.ts";
import { jsonLine, jsonLineBytes } from "../../json/json-line.ts";

/** Everything is text: `event` and `listing` are the JSON texts that the service sent. */
export interface Row {
  readonly uuid: string;
  readonly event_date: string | null;
  readonly scope: string | null;
  readonly event: string;
  readonly listing: string;
}

/** One line of NDJSON without the newline: equal rows give equal bytes. Lifted columns come last, in their order. */
export function rowLine(row: Row, lifted: Readonly<Record<string, string | null>> = {}): string {
  const { uuid, event_date, scope, event, listing } = row;
  return jsonLine({ uuid, event_date, scope, event, listing, ...lifted });
}

/** Checked by hand, not by a schema: it runs once per event. Lifted columns are ignored. */
export function parseRow(line: string): Row {
  const value = parseObject(line);
  if (value === undefined) throw notARow("it is not a JSON object");
  const { uuid, event_date, scope, event, listing } = value;
  if (!isText(uuid)) throw notARow("uuid is not a string");
  if (!isTextOrNull(event_date)) throw notARow("event_date is neither a string nor null");
  if (!isTextOrNull(scope)) throw notARow("scope is neither a string nor null");
  if (!isText(event)) throw notARow("event is not a string");
  if (!isText(listing)) throw notARow("listing is not a string");
  return { uuid, event_date, scope, event, listing };
}

function parseObject(line: string): Partial<Record<keyof Row, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined; // the parser's own error quotes the line
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function notARow(problem: string): SyncError {
  return new SyncError("STORE_CORRUPT", `A line of a snapshot is not a row: ${problem}.`, {
    next: "Restore the snapshot's files from a backup or an older version.",
  });
}

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
