// Changes lead from the rows of one snapshot to those of another.

import type { SeenChange, SeenRow } from "./reader.ts";

/** What is wrong with them; undefined: nothing. */
export function wrongIn(
  from: readonly SeenRow[],
  changes: readonly Pick<SeenChange, "uuid" | "before" | "after">[],
  to: readonly SeenRow[],
): string | undefined {
  const folded = new Map(from.map(({ uuid, event }) => [uuid, event]));
  for (const { uuid, before, after } of changes) {
    if ((folded.get(uuid) ?? null) !== before) return "begin with another event";
    if (after === null) folded.delete(uuid);
    else folded.set(uuid, after);
  }
  const isEqual = folded.size === to.length && to.every(({ uuid, event }) => folded.get(uuid) === event);
  return isEqual ? undefined : "lead to other rows";
}
