// A result as one JSON array of objects.

import { jsonObject } from "./json-object.ts";
import type { ResultRows } from "./result-rows.ts";

/** One object a line, between the brackets. */
export async function* jsonArray({ columns, batches }: ResultRows): AsyncGenerator<string> {
  const object = jsonObject(columns);
  let before = "[\n";
  for await (const rows of batches) {
    if (rows.length === 0) continue;
    yield before + rows.map(object).join(",\n");
    before = ",\n";
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}
