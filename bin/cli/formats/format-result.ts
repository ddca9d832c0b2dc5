// A result in the form that a person or a program wants.

import terminalWidth from "fast-string-truncated-width";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { TextFormat } from "../options/options.ts";
import { type TableLayout, type TableOptions, tableLayout } from "../output/table.ts";
import { oneLine } from "../output/terminal.ts";

type Formatter = (result: ResultRows, options: TableOptions) => AsyncGenerator<string>;

const FORMATTERS: Readonly<Record<TextFormat, Formatter>> = {
  table,
  vertical,
  csv,
  json: jsonArray,
  ndjson,
};

/** The text in pieces, one for each batch of rows. The options are those of a table. */
export function formatResult(
  format: TextFormat,
  result: ResultRows,
  options: TableOptions,
): AsyncGenerator<string> {
  return FORMATTERS[format](result, options);
}

/** What `--json` prints: one line, also where reading fails half-way. Then the error closes it, and is thrown. */
export async function* columnsAndRows({ columns, batches }: ResultRows): AsyncGenerator<string> {
  let before = `{"columns":${oneLine(JSON.stringify(columns))},"rows":[`;
  try {
    for await (const rows of batches) {
      if (rows.length === 0) continue;
      yield before + rows.map((row) => oneLine(JSON.stringify(row))).join(",");
      before = ",";
    }
  } catch (error) {
    // Of a result without a row nothing is printed yet.
    if (before === "," && error instanceof SyncError) {
      const failure = JSON.stringify({ error_code: error.code, error_message: error.message });
      yield `],${oneLine(failure).slice(1)}\n`;
    }
    throw error;
  }
  yield `${before === "," ? "" : before}]}\n`;
}

/** §2, rules 5 to 7, and a line separator of Unicode, at which some readers end a line. White space at an edge is often trimmed. */
const NEEDS_QUOTES = /[",\r\n\u0085\u2028\u2029]|^\s|\s$/;

/**
 * Null is an empty field, an empty text `""`. In a result of one column both are `""`: readers skip an empty
 * line, and would lose the row.
 */
async function* csv({ columns, batches }: ResultRows): AsyncGenerator<string> {
  yield record(columns);
  for await (const rows of batches) yield rows.map(record).join("");
}

function record(row: ResultRow): string {
  return row.length === 1 ? `${field(row[0] ?? "")}\r\n` : `${row.map(field).join(",")}\r\n`;
}

function field(value: string | null): string {
  if (value === null) return "";
  return value === "" || NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** A result as NDJSON: one object a line. */
async function* ndjson({ columns, batches }: ResultRows): AsyncGenerator<string> {
  const object = jsonObject(columns);
  for await (const rows of batches) yield rows.map((row) => `${object(row)}\n`).join("");
}

/** One object a line, between the brackets. */
async function* jsonArray({ columns, batches }: ResultRows): AsyncGenerator<string> {
  const object = jsonObject(columns);
  let before = "[\n";
  for await (const rows of batches) {
    if (rows.length === 0) continue;
    yield before + rows.map(object).join(",\n");
    before = ",\n";
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}

/** Written key by key: an object of JavaScript would put names that are numbers first. */
function jsonObject(columns: readonly string[]): (row: ResultRow) => string {
  const keys = unique(columns).map((name) => JSON.stringify(name));
  return (row) =>
    oneLine(`{${row.map((value, index) => `${keys[index]}:${JSON.stringify(value)}`).join(",")}}`);
}

/** Columns of the same name get `_1`, `_2` and so on behind it, as in a table that DuckDB makes of them. */
function unique(columns: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return columns.map((column) => {
    let name = column;
    for (let number = 1; taken.has(name); number++) name = `${column}_${number}`;
    taken.add(name);
    return name;
  });
}

/** A result for a person, one value a line: for rows that are too wide for a table. */
const RULE_WIDTH = 40;

/** Values are whole and on one line; null is shown as `NULL`. */
async function* vertical({ columns, batches }: ResultRows): AsyncGenerator<string> {
  const names = columns.map(oneLine);
  const widest = Math.max(0, ...names.map(widthOf));
  const padded = names.map((name) => name + " ".repeat(widest - widthOf(name)));
  let count = 0;
  for await (const rows of batches) {
    const lines = rows.flatMap((row) => [
      `─── row ${++count} `.padEnd(RULE_WIDTH, "─"),
      ...row.map((value, index) => `${padded[index]}  ${oneLine(value ?? "NULL")}`.trimEnd()),
    ]);
    yield lines.map((line) => `${line}\n`).join("");
  }
  yield `(${count} ${count === 1 ? "row" : "rows"})\n`;
}

function widthOf(text: string): number {
  return terminalWidth(text).width;
}

/** How many rows the widths of a table's columns come from; fewer where they are this long. */
const FIRST_ROWS = 1000;
const FIRST_CHARACTERS = 16 * 1024 * 1024;
/** A line may be many times as long as its row. */
const ROWS_IN_A_PIECE = 64;

async function* table({ columns, batches }: ResultRows, options: TableOptions): AsyncGenerator<string> {
  let layout: TableLayout | undefined;
  let waiting: ResultRow[] = [];
  let characters = 0;
  let count = 0;
  const begin = (): TableLayout => tableLayout({ columns, rows: waiting.slice(0, FIRST_ROWS) }, options);
  for await (const rows of batches) {
    count += rows.length;
    waiting.push(...rows);
    characters += rows.flat().reduce((sum, text) => sum + (text?.length ?? 0), 0);
    if (!layout) {
      if (waiting.length < FIRST_ROWS && characters < FIRST_CHARACTERS) continue;
      layout = begin();
      yield layout.head;
    }
    yield* linesOf(waiting, layout);
    waiting = [];
  }
  if (!layout) {
    layout = begin();
    yield layout.head;
  }
  yield* linesOf(waiting, layout);
  yield layout.foot(count);
}

function* linesOf(rows: readonly ResultRow[], { lines }: TableLayout): Generator<string> {
  for (let from = 0; from < rows.length; from += ROWS_IN_A_PIECE) {
    yield lines(rows.slice(from, from + ROWS_IN_A_PIECE));
  }
}

/** The result of a query as it arrives: the names of its columns, then batches of rows, every value as text or null. */
export type ResultRow = readonly (string | null)[];

export interface ResultRows {
  readonly columns: readonly string[];
  /** Can be read once. */
  readonly batches: AsyncIterable<readonly ResultRow[]>;
}

/** All rows, where they are needed at once. */
export async function allRows({ columns, batches }: ResultRows): Promise<{
  readonly columns: readonly string[];
  readonly rows: readonly ResultRow[];
}> {
  const rows: ResultRow[] = [];
  for await (const batch of batches) for (const row of batch) rows.push(row);
  return { columns, rows };
}
