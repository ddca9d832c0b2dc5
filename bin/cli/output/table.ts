// The result of a query as a person reads it on a terminal: columns in line, long values cut, rows counted.

import { cutToWidth, displayWidth } from "./display-width.ts";
import { oneLine } from "./terminal-text.ts";

export interface TableRows {
  readonly columns: readonly string[];
  /** Null is shown as `NULL`. */
  readonly rows: readonly (readonly (string | null)[])[];
}

export interface TableOptions {
  /** Columns of the terminal that a value takes at most (60). */
  readonly maxWidth?: number;
}

/** Ends with a newline. Values are cut and made safe to print: for whole ones there is `--json`. */
export function formatTable(result: TableRows, { maxWidth = 60 }: TableOptions = {}): string {
  const header = result.columns.map((name) => cell(name, maxWidth));
  const rows = result.rows.map((row) => row.map((value) => cell(value ?? "NULL", maxWidth)));
  const widths = header.map((name, index) =>
    rows.reduce((widest, row) => Math.max(widest, displayWidth(row[index] ?? "")), displayWidth(name)),
  );

  const line = (cells: readonly string[]): string =>
    cells
      .map((text, index) => text + " ".repeat((widths[index] ?? 0) - displayWidth(text)))
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  const count = `(${rows.length} ${rows.length === 1 ? "row" : "rows"})`;
  return `${[line(header), rule, ...rows.map(line), count].join("\n")}\n`;
}

const cell = (value: string, maxWidth: number): string => cutToWidth(oneLine(value), maxWidth);
