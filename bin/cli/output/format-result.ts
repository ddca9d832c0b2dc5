// A result in the form that a person or a program wants: a table, JSON, CSV and others.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { ChangedRow, ChangedValue } from "../../../lambdas/job/snapshot/rows/first-changes.ts";
import type { OptionValues, TextFormat } from "../options/options.ts";
import { cell, type ResultRow, type ResultRows, share, type TableRows, tableOf, widthOf } from "./table.ts";
import { oneLine } from "./terminal.ts";

type Formatter = (result: ResultRows, options: FormOptions) => AsyncGenerator<string>;

/** The forms that a person chooses, and the line that `--json` prints. */
export type PrintedForm = TextFormat | "line";

const FORMATTERS: Readonly<Record<PrintedForm, Formatter>> = {
  line,
  table: tableOf,
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

/** As `diff` and a dry run name what differs; with the values, where the changes have them. */
export function changesTable(changes: readonly ChangedRow[]): TableRows {
  if (changes.some(({ values }) => values !== undefined)) return valuesTable(changes);
  const rows = changes.map(({ uuid, change, fields, reason }) => [
    uuid,
    change,
    fields && JSON.stringify(fields),
    reason,
  ]);
  return { columns: ["uuid", "change", "fields", "reason"], rows };
}

/** A row for each value: a program then needs no second look at the fields. */
function valuesTable(changes: readonly ChangedRow[]): TableRows {
  const rows = changes.flatMap(({ uuid, change, values = [], reason }) =>
    values.map(({ field, before, after }) => [uuid, change, field, before, after, reason]),
  );
  return { columns: ["uuid", "change", "field", "before", "after", "reason"], rows };
}

const ARROW = " → ";
/** Less room for two values is none: then they get a line of their own. */
const LEAST_ROOM = 40;

/** The changes for a person: below each event its fields with what they held and hold, cut to the width. */
export function changesText(changes: readonly ChangedRow[], width = Number.POSITIVE_INFINITY): string {
  let isCut = false;
  const cutTo = (text: string, columns: number): string => {
    const shown = cell(text, columns);
    isCut ||= shown !== cell(text, Number.POSITIVE_INFINITY);
    return shown;
  };
  const lines = changes.flatMap(({ uuid, change, values = [], reason }) => [
    [uuid, change, reason ?? ""].join("  ").trimEnd(),
    ...(change === "changed" ? values.flatMap((value) => valueLines(value, width, cutTo)) : []),
  ]);
  return [...lines, ...(isCut ? ["(cut to fit; whole: --full, or --format vertical)"] : []), ""].join("\n");
}

function valueLines(
  { field, before, after }: ChangedValue,
  width: number,
  cutTo: (text: string, columns: number) => string,
): readonly string[] {
  const title = `  ${cutTo(field === "" ? "the whole event" : (field ?? ""), width - 3)}:`;
  const beside = width - widthOf(title) - 1;
  const isBeside = beside >= LEAST_ROOM;
  const room = (isBeside ? beside : width - 4) - ARROW.length;
  const texts = [before ?? "absent", after ?? "absent"];
  const natural = texts.map((text) => widthOf(cell(text, room + 1)));
  const values = texts.map((text) => cutTo(text, share(natural, room))).join(ARROW);
  return isBeside ? [`${title} ${values}`] : [title, `    ${values}`];
}
