// A result as a table for a person.

import { formatTable, type TableOptions } from "../output/table.ts";
import { collect, type ResultRows } from "./result-rows.ts";

/** The columns are as wide as their widest values, so all rows are collected first. */
export async function* table(result: ResultRows, options: TableOptions): AsyncGenerator<string> {
  yield formatTable(await collect(result), options);
}
