// A result as one line of JSON: `{"columns": […], "rows": [[…]]}`.

import { oneLine } from "../output/terminal.ts";
import { collect, type ResultRows } from "./result-rows.ts";

/** In one piece, so that a query that fails prints nothing. */
export async function* columnsAndRows(result: ResultRows): AsyncGenerator<string> {
  yield `${oneLine(JSON.stringify(await collect(result)))}\n`;
}
