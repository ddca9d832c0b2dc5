// The list of listed events that a snapshot has no row for, beside its parts.

import { isDeepStrictEqual } from "node:util";
import { jsonLine } from "../../json/json-line.ts";
import type { Store } from "../../storage/store.ts";
import { type LeftOut, leftOutSchema } from "../staging/staged-result.ts";
import { damaged, MAKE_AGAIN } from "./damaged.ts";

/** Creates the file unless the list is empty. Throws `STORE_CORRUPT` when a different list exists already. */
export async function writeLeftOut(store: Store, key: string, leftOut: readonly LeftOut[]): Promise<void> {
  if (leftOut.length === 0) return;
  const text = leftOut.map(({ uuid, reason }) => `${jsonLine({ uuid, reason })}\n`).join("");
  const bytes = Buffer.from(text);
  if ((await store.create(key, bytes)) !== undefined) return;

  const found = await store.read(key);
  if (found === undefined) throw damaged(key, "it is missing", MAKE_AGAIN);
  if (isDeepStrictEqual(parse(found.bytes), leftOut)) return;
  throw damaged(key, "an earlier attempt left out other events than this run", MAKE_AGAIN);
}

/** Undefined for anything but whole lines of uuid and reason. */
function parse(bytes: Uint8Array): readonly LeftOut[] | undefined {
  const lines = Buffer.from(bytes).toString().split("\n");
  if (lines.pop() !== "") return undefined;
  try {
    return lines.map((line) => leftOutSchema.parse(JSON.parse(line)));
  } catch {
    return undefined;
  }
}
