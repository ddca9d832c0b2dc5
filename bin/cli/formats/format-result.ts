// A result in the form that a person or a program wants.

import type { TextFormat } from "../options/result-format.ts";
import type { TableOptions } from "../output/table.ts";
import { csv } from "./csv.ts";
import { jsonArray } from "./json-array.ts";
import { ndjson } from "./ndjson.ts";
import type { ResultRows } from "./result-rows.ts";
import { table } from "./table.ts";
import { vertical } from "./vertical.ts";

type Formatter = (result: ResultRows, options: TableOptions) => AsyncGenerator<string>;

const FORMATTERS: Readonly<Record<TextFormat, Formatter>> = {
  table,
  vertical,
  csv,
  json: jsonArray,
  ndjson,
};

/** The text in pieces, one for each batch of rows; a table in one piece. The options are those of a table. */
export function formatResult(
  format: TextFormat,
  result: ResultRows,
  options: TableOptions,
): AsyncGenerator<string> {
  return FORMATTERS[format](result, options);
}
