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

/** Ends with a newline. All values are made safe to print. */
export function formatTable(
  { columns, rows }: TableRows,
  { maxWidth = Number.POSITIVE_INFINITY, width = Number.POSITIVE_INFINITY }: TableOptions = {},
): string {
  const most = Math.min(maxWidth, width + 1); // one more than fits, so that it shows that this does not
  const [header = [], ...body] = [columns, ...rows].map((row) => row.map((value) => cell(value, most)));
  const natural = header.map((name, index) =>
    body.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? "")), widthOf(name)),
  );
  const widths = fitted(natural, width);
  const others = widths.length < natural.length ? "…" : "";

  const line = (cells: readonly string[], rest: string): string => {
    const shown = widths.map((most, index) => padded(cells[index] ?? "", most));
    return [...shown, rest].join(GAP).trimEnd();
  };
  const rule = line(
    widths.map((columns) => "─".repeat(columns)),
    others && "─",
  );
  const isCut = natural.some((columns, index) => columns !== widths[index]);
  const footer = `(${rows.length} ${rows.length === 1 ? "row" : "rows"}${isCut ? CUT : ""})`;
  return `${[line(header, others), rule, ...body.map((row) => line(row, "")), footer].join("\n")}\n`;
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

function padded(text: string, columns: number): string {
  const fitting = cut(text, columns);
  return fitting + " ".repeat(columns - widthOf(fitting));
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
