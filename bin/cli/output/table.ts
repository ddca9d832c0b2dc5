// Rows for a person at a terminal: columns aligned, rows counted, and cut where the terminal ends.

import terminalWidth from "fast-string-truncated-width";
import { oneLine } from "./terminal.ts";

export interface TableRows {
  readonly columns: readonly string[];
  /** Null is shown as `NULL`. */
  readonly rows: readonly (readonly (string | null)[])[];
}

export interface TableOptions {
  /** Columns of the terminal that a value takes at most; without it values are whole. */
  readonly maxWidth?: number;
  /** Columns of the terminal that a line takes at most. */
  readonly width?: number | undefined;
}

const GAP = "  ";
/** No column is cut to fewer: where even that is too wide, the last columns are left out. */
const LEAST = 8;
const CUT = ", cut to fit; whole: --full, or --format vertical";

/** A column is padded to no more, so that one long value does not make every line as long. */
const MOST_PADDED = 1000;

/** A table in the making; each text ends with a newline. All values are made safe to print. */
export interface TableLayout {
  readonly head: string;
  readonly lines: (rows: TableRows["rows"]) => string;
  /** After all lines. */
  readonly foot: (count: number) => string;
}

/** A whole table. */
export function formatTable(table: TableRows, options: TableOptions = {}): string {
  const { head, lines, foot } = tableLayout(table, options);
  return head + lines(table.rows) + foot(table.rows.length);
}

/** The rows say how wide the columns are. Later values that are wider are cut where there is a limit, and whole elsewhere. */
export function tableLayout(
  { columns, rows }: TableRows,
  { maxWidth = Number.POSITIVE_INFINITY, width = Number.POSITIVE_INFINITY }: TableOptions,
): TableLayout {
  const most = Math.min(maxWidth, width + 1); // one more than fits, so that it shows that this does not
  const header = columns.map((name) => cell(name, most));
  const natural = header.map((name, index) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(cell(row[index] ?? null, most))), widthOf(name)),
  );
  const isWhole = most === Number.POSITIVE_INFINITY;
  const widths = isWhole ? natural.map((columns) => Math.min(columns, MOST_PADDED)) : fitted(natural, width);
  let isCut = !isWhole && natural.some((columns, index) => columns !== widths[index]);
  const shown = (text: string, columns: number): string => {
    const fitting = isWhole ? text : cut(text, columns);
    isCut ||= fitting !== text;
    return fitting + " ".repeat(Math.max(0, columns - widthOf(fitting)));
  };
  const others = widths.length < natural.length ? "…" : "";
  const line = (cells: readonly string[], rest = ""): string =>
    `${[...widths.map((columns, index) => shown(cells[index] ?? "", columns)), rest].join(GAP).trimEnd()}\n`;
  const rule = widths.map((columns) => "─".repeat(columns));
  return {
    head: line(header, others) + line(rule, others && "─"),
    lines: (more) => more.map((row) => line(row.map((value) => cell(value, most)))).join(""),
    foot: (count) => `(${count} ${count === 1 ? "row" : "rows"}${isCut ? CUT : ""})\n`,
  };
}

/** The widths of the columns that are shown: narrow ones are whole, the others share what is left. */
function fitted(natural: readonly number[], width: number): readonly number[] {
  for (let shown = natural.length; shown > 0; shown--) {
    const widths = natural.slice(0, shown);
    const others = shown < natural.length ? GAP.length + 1 : 0;
    const room = width - others - GAP.length * (shown - 1);
    const least = widths.reduce((sum, columns) => sum + Math.min(columns, LEAST), 0);
    if (least > room && shown > 1) continue;
    const most = share(widths, Math.max(room, 1));
    return widths.map((columns) => Math.min(columns, most));
  }
  return [];
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

function widthOf(text: string): number {
  return terminalWidth(text).width;
}
