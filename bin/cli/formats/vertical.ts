// A result for a person, one value a line: for rows that are too wide for a table.

import terminalWidth from "fast-string-truncated-width";
import { oneLine } from "../output/terminal.ts";
import type { ResultRows } from "./result-rows.ts";

const RULE_WIDTH = 40;

/** Values are whole and on one line; null is shown as `NULL`. */
export async function* vertical({ columns, batches }: ResultRows): AsyncGenerator<string> {
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
