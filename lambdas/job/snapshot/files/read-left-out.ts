// Reads the list of listed events that a snapshot has no row for.

import type { Store } from "../../storage/store.ts";
import { type LeftOut, leftOutSchema } from "../staging/staged-result.ts";
import { damaged, RESTORE } from "./damaged.ts";

/** None where there is no such file. Throws `STORE_CORRUPT` for a line that is no uuid with a reason. */
export async function* readLeftOut(store: Store, key: string): AsyncGenerator<LeftOut, void, undefined> {
  const chunks = await store.open(key);
  if (chunks === undefined) return;
  const decoder = new TextDecoder();
  let begun = "";
  for await (const chunk of chunks) {
    const lines = (begun + decoder.decode(chunk, { stream: true })).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) yield parse(line, key);
  }
  if (begun !== "") throw damaged(key, "its last line has no end", RESTORE);
}

function parse(line: string, key: string): LeftOut {
  try {
    return leftOutSchema.parse(JSON.parse(line));
  } catch {
    throw damaged(key, "it holds a line that is no uuid with a reason", RESTORE); // the parser's own error quotes it
  }
}
