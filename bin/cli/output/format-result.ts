// A result in the form that a person or a program wants: a table, JSON, CSV and others.

import terminalWidth from "fast-string-truncated-width";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { ChangedRow } from "../../../lambdas/job/snapshot/rows/first-changes.ts";
import type { OptionValues, TextFormat } from "../options/options.ts";
import { oneLine } from "./terminal.ts";

type Formatter = (result: ResultRows, options: FormOptions) => AsyncGenerator<string>;

/** Those that a person chooses, and the line that `--json` prints. */
export type PrintedForm = TextFormat | "line";

const FORMATTERS: Readonly<Record<PrintedForm, Formatter>> = {
  line,
  table,
  vertical,
  csv: (result, options) => separated(result, ",", options),
  tsv: (result, options) => separated(result, "\t", options),
  json: jsonArray,
  ndjson,
};

/** Throws `CONFIG_INVALID` where `--json` asks for another form. */
export function chosenFormat({
  json,
  format,
}: OptionValues<"json" | "format">): TextFormat | "parquet" | undefined {
  if (!json || format === undefined) return format;
  throw new SyncError(
    "CONFIG_INVALID",
    `--json and --format ${format} are two forms of the result. Leave one of them out.`,
  );
}

interface FormOptions {
  /** Columns of the terminal that a line of a table takes at most. */
  readonly width?: number | undefined;
  /** Of CSV and TSV: programs that read lines keep a CR as a part of the last value, and a file for others has CRLF. */
  readonly lineEnd?: "\n" | "\r\n";
}

/** The text in pieces, one for each batch of rows. */
export function formatResult(
  format: PrintedForm,
  result: ResultRows,
  options: FormOptions = {},
): AsyncGenerator<string> {
  return FORMATTERS[format](result, options);
}

/** One line, also where reading fails half-way. Then the error closes it, and is thrown. */
async function* line({ columns, json, batches, missing = [] }: ResultRows): AsyncGenerator<string> {
  let before = `{"columns":${oneLine(JSON.stringify(columns))},"rows":[`;
  try {
    for await (const rows of batches) {
      if (rows.length === 0) continue;
      yield before + rows.map((row) => oneLine(`[${jsonValues(row, json).join(",")}]`)).join(",");
      before = ",";
    }
  } catch (error) {
    // A result without a row has printed nothing yet.
    if (before === "," && error instanceof SyncError) {
      const failure = JSON.stringify({ error_code: error.code, error_message: error.message });
      yield `],${oneLine(failure).slice(1)}\n`;
    }
    throw error;
  }
  const left = missing.length === 0 ? "" : `,"missing":${oneLine(JSON.stringify(missing))}`;
  yield `${before === "," ? "" : before}]${left}}\n`;
}

/** §2, rules 5 to 7, and a line separator of Unicode, at which some readers end a line. White space at an edge is often trimmed. */
const NEEDS_QUOTES = /[",\t\r\n\u0085\u2028\u2029]|^\s|\s$/;

/**
 * Null is an empty field, an empty text `""`. In a result of one column both are `""`: readers skip an empty
 * line, and would lose the row.
 */
async function* separated(
  { columns, batches }: ResultRows,
  separator: "," | "\t",
  { lineEnd = "\n" }: FormOptions,
): AsyncGenerator<string> {
  const record = (row: ResultRow): string =>
    (row.length === 1 ? field(row[0] ?? "") : row.map(field).join(separator)) + lineEnd;
  yield record(columns);
  for await (const rows of batches) yield rows.map(record).join("");
}

function field(value: string | null): string {
  if (value === null) return "";
  return value === "" || NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Each value as JSON: a text as a string. */
function jsonValues(row: ResultRow, json: ResultRows["json"]): readonly string[] {
  return row.map((value, index) => (value !== null && json?.[index] ? value : JSON.stringify(value)));
}

async function* ndjson({ columns, json, batches }: ResultRows): AsyncGenerator<string> {
  const object = jsonObject(columns, json);
  for await (const rows of batches) yield rows.map((row) => `${object(row)}\n`).join("");
}

async function* jsonArray({ columns, json, batches }: ResultRows): AsyncGenerator<string> {
  const object = jsonObject(columns, json);
  let before = "[\n";
  for await (const rows of batches) {
    if (rows.length === 0) continue;
    yield before + rows.map(object).join(",\n");
    before = ",\n";
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}

/** Written key by key: an object of JavaScript would put names that are numbers first. */
function jsonObject(columns: readonly string[], json: ResultRows["json"]): (row: ResultRow) => string {
  const keys = unique(columns).map((name) => JSON.stringify(name));
  return (row) =>
    oneLine(
      `{${jsonValues(row, json)
        .map((value, index) => `${keys[index]}:${value}`)
        .join(",")}}`,
    );
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

const RULE_WIDTH = 40;

/** One value a line, whole, for rows that are too wide for a table; null is shown as `NULL`. */
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
  const show = function* (): Generator<string, TableLayout> {
    const known = layout ?? tableLayout({ columns, rows: waiting.slice(0, FIRST_ROWS) }, options);
    if (!layout) yield known.head;
    for (let from = 0; from < waiting.length; from += ROWS_IN_A_PIECE) {
      yield known.lines(waiting.slice(from, from + ROWS_IN_A_PIECE));
    }
    waiting = [];
    return known;
  };
  for await (const rows of batches) {
    count += rows.length;
    waiting.push(...rows);
    characters += rows.flat().reduce((sum, text) => sum + (text?.length ?? 0), 0);
    if (layout || waiting.length >= FIRST_ROWS || characters >= FIRST_CHARACTERS) layout = yield* show();
  }
  layout = yield* show();
  yield layout.foot(count);
}

/** The result of a query as it arrives: the names of its columns, then batches of rows, every value as text or null. */
export type ResultRow = readonly (string | null)[];

export interface ResultRows {
  readonly columns: readonly string[];
  /** Which columns have texts that are JSON; none where this is absent. */
  readonly json?: readonly boolean[];
  /** Can be read once. */
  readonly batches: AsyncIterable<readonly ResultRow[]> | Iterable<readonly ResultRow[]>;
  /** What is not in it, because files are missing; only the line of `--json` has it. */
  readonly missing?: readonly object[];
}

export interface TableRows {
  readonly columns: readonly string[];
  /** Null is shown as `NULL`. */
  readonly rows: readonly ResultRow[];
}

/** As `diff` and a dry run name what differs. */
export function changesTable(changes: readonly ChangedRow[]): TableRows {
  const rows = changes.map(({ uuid, change, fields, reason }) => [
    uuid,
    change,
    fields && JSON.stringify(fields),
    reason,
  ]);
  return { columns: ["uuid", "change", "fields", "reason"], rows };
}

interface TableOptions {
  /** Columns of the terminal that a value takes at most; without it values are whole. */
  readonly maxWidth?: number;
  /** Columns of the terminal that a line takes at most. */
  readonly width?: number | undefined;
  /** The options that show what is cut. */
  readonly whole?: string;
}

const GAP = "  ";
/** As wide as a uuid, and wider than an instant: a column of no more is whole or not there, and a wider one may be cut. */
const WHOLE = 36;
/** Cut to fewer, a text says nothing: then its column is not there. */
const LEAST = 16;

/** A column is padded to no more, so that one long value does not make every line as long. */
const MOST_PADDED = 1000;

/** A table in the making; each text ends with a newline. All values are made safe to print. */
interface TableLayout {
  readonly head: string;
  readonly lines: (rows: TableRows["rows"]) => string;
  /** After all lines. */
  readonly foot: (count: number) => string;
}

export function formatTable(table: TableRows, options: TableOptions = {}): string {
  const { head, lines, foot } = tableLayout(table, options);
  return head + lines(table.rows) + foot(table.rows.length);
}

/** The rows say how wide the columns are. Later values that are wider are cut where there is a limit, and whole elsewhere. */
function tableLayout(
  { columns, rows }: TableRows,
  {
    maxWidth = Number.POSITIVE_INFINITY,
    width = Number.POSITIVE_INFINITY,
    whole = "--full, or --format vertical",
  }: TableOptions,
): TableLayout {
  const most = Math.min(maxWidth, width + 1); // one more than fits, so that it shows that this does not
  const header = columns.map((name) => cell(name, most));
  const natural = header.map((name, index) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(cell(row[index] ?? null, most))), widthOf(name)),
  );
  const isWhole = most === Number.POSITIVE_INFINITY;
  const widths = isWhole
    ? natural.map((columns) => Math.min(columns, MOST_PADDED))
    : fitted(
        natural.map((columns, index) => ({ columns, isJson: isJsonIn(rows, index) })),
        width,
      );
  let isCut = !isWhole && natural.some((columns, index) => columns !== widths[index]);
  const shown = (text: string, columns: number): string => {
    const fitting = isWhole ? text : cut(text, columns);
    isCut ||= fitting !== text;
    return fitting + " ".repeat(Math.max(0, columns - widthOf(fitting)));
  };
  const lineOf = (cells: readonly string[]): string => {
    const own = widths.flatMap((columns, index) =>
      columns === undefined ? [] : [shown(cells[index] ?? "", columns)],
    );
    return `${own.join(GAP).trimEnd()}\n`;
  };
  const gone = header.filter((_, index) => widths[index] === undefined);
  return {
    head: lineOf(header) + lineOf(widths.map((columns = 0) => "─".repeat(columns))),
    lines: (more) => more.map((row) => lineOf(row.map((value) => cell(value, most)))).join(""),
    foot: (count) => {
      const cutText = isCut ? `, cut to fit; whole: ${whole}` : "";
      const lines = gone.length === 0 ? [] : goneLines(gone, width);
      return [`(${count} ${count === 1 ? "row" : "rows"}${cutText})`, ...lines, ""].join("\n");
    },
  };
}

function isJsonIn(rows: TableRows["rows"], index: number): boolean {
  const values = rows.flatMap((row) => row[index] ?? []);
  return values.length > 0 && values.every((text) => /^[[{]/.test(text));
}

/** In as many lines as it takes: a column that is named nowhere is missed by nobody. */
function goneLines(names: readonly string[], width: number): readonly string[] {
  const lines = [`${names.length} ${names.length === 1 ? "column does" : "columns do"} not fit:`];
  for (const [index, name] of names.entries()) {
    const word = index === names.length - 1 ? name : `${name},`;
    const longer = `${lines.at(-1)} ${word}`;
    if (widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(cut(`  ${word}`, width));
  }
  return lines;
}

interface Natural {
  readonly columns: number;
  readonly isJson: boolean;
}

/**
 * The widths of the columns, undefined for one that is not there. Those that are not cut come first, each that still fits;
 * then other texts, whole where the columns of JSON can be cut for that; what is left is for JSON.
 */
function fitted(natural: readonly Natural[], width: number): readonly (number | undefined)[] {
  const rank = ({ columns, isJson }: Natural): number => (isJson ? 2 : columns > WHOLE ? 1 : 0);
  const leastOf = (each: Natural): number =>
    rank(each) === 0 ? each.columns : Math.min(each.columns, LEAST);
  let room = width + GAP.length;
  const there = natural
    .map((each, index) => ({ ...each, index, rank: rank(each), least: leastOf(each) }))
    .toSorted((a, b) => a.rank - b.rank)
    .filter(({ least }) => {
      const fits = least + GAP.length <= room;
      if (fits) room -= least + GAP.length;
      return fits;
    });
  const widths = natural.map((): number | undefined => undefined);
  for (const ofRank of [0, 1, 2]) {
    const own = there.filter(({ rank }) => rank === ofRank);
    room += own.reduce((sum, { least }) => sum + least, 0);
    const most = share(
      own.map(({ columns }) => columns),
      room,
    );
    for (const { index, columns } of own) {
      const given = Math.min(columns, most);
      widths[index] = given;
      room -= given;
    }
  }
  // Of the first column its beginning is better than nothing.
  if (there.length === 0 && natural.length > 0) widths[0] = Math.max(1, width);
  return widths;
}

/** How wide a column may be so that all together take no more than `room`. */
function share(widths: readonly number[], room: number): number {
  let left = room;
  for (const [index, columns] of widths.toSorted((a, b) => a - b).entries()) {
    const each = Math.floor(left / (widths.length - index));
    if (columns > each) return each;
    left -= columns;
  }
  return Number.POSITIVE_INFINITY;
}

function cell(value: string | null, maxWidth: number): string {
  // A column takes at least one code unit but for marks, so the rest of a long text needs no look.
  return cut(oneLine((value ?? "NULL").slice(0, maxWidth * 16)), maxWidth);
}

function cut(text: string, maxWidth: number): string {
  const { index, truncated } = terminalWidth(text, { limit: maxWidth, ellipsis: "…" });
  return truncated ? `${text.slice(0, index)}…` : text;
}
