// A row as a JSON object on one line. Values are texts or null.

import { oneLine } from "../output/terminal.ts";
import type { Row } from "./result-rows.ts";

/** Written key by key: an object of JavaScript would put names that are numbers first. */
export function jsonObject(columns: readonly string[]): (row: Row) => string {
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
