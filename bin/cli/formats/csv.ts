// A result as CSV by RFC 4180: a header, fields in quotes where they need them, CRLF at the end of each record.

import type { ResultRows, Row } from "./result-rows.ts";

/** §2, rules 5 to 7, and a line separator of Unicode, at which some readers end a line. White space at an edge is often trimmed. */
const NEEDS_QUOTES = /[",\r\n\u0085\u2028\u2029]|^\s|\s$/;

/**
 * Null is an empty field, an empty text `""`. In a result of one column both are `""`: readers skip an empty
 * line, and would lose the row.
 */
export async function* csv({ columns, batches }: ResultRows): AsyncGenerator<string> {
  yield record(columns);
  for await (const rows of batches) yield rows.map(record).join("");
}

function record(row: Row): string {
  return row.length === 1 ? `${field(row[0] ?? "")}\r\n` : `${row.map(field).join(",")}\r\n`;
}

function field(value: string | null): string {
  if (value === null) return "";
  return value === "" || NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
