// The result of a query for a person at a terminal: columns aligned, long values cut, rows counted.

import terminalWidth from "fast-string-truncated-width";
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
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? "")), widthOf(name)),
  );

  const line = (cells: readonly string[]): string =>
    cells
      .map((text, index) => text + " ".repeat((widths[index] ?? 0) - widthOf(text)))
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  const count = `(${rows.length} ${rows.length === 1 ? "row" : "rows"})`;
  return `${[line(header), rule, ...rows.map(line), count].join("\n")}\n`;
}

function cell(value: string, maxWidth: number): string {
  // A column takes at least one code unit but for marks, so the rest of a long text needs no look.
  const text = oneLine(value.slice(0, maxWidth * 16));
  const { index, truncated } = terminalWidth(text, { limit: maxWidth, ellipsis: "…" });
  return truncated ? `${text.slice(0, index)}…` : text;
}

function widthOf(text: string): number {
  return terminalWidth(text).width;
}
