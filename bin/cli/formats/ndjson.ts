// A result as NDJSON: one object a line.

import { jsonObject } from "./json-object.ts";
import type { ResultRows } from "./result-rows.ts";

export async function* ndjson({ columns, batches }: ResultRows): AsyncGenerator<string> {
  const object = jsonObject(columns);
  for await (const rows of batches) yield rows.map((row) => `${object(row)}\n`).join("");
}
