// Verifies a publication's changes by gzip's own checksum and by their number.

import * as z from "zod";
import { isOfLayout, layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { damaged, RESTORE } from "./damaged.ts";
import { readLines } from "./gzip/read-lines.ts";
import type { PublishedUnits } from "./units.ts";

const CHANGE = z.object({ change: z.enum(["added", "changed", "removed"]) });

/**
 * Reads all of them. Throws `STORE_CORRUPT` naming the file, or the folder where they are not as many as the
 * publication says.
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export async function verifyChanges(
  store: Store,
  account: string,
  publication: PublishedUnits,
  proceed: () => void = () => undefined,
): Promise<void> {
  const prefix = layout.changes(account, publication.publication, publication.snapshot_id);
  const found = { added: 0, changed: 0, removed: 0 };
  for await (const { key } of store.list(prefix)) {
    if (!isOfLayout(key) || key === layout.lost(account, publication.publication, publication.snapshot_id))
      continue;
    const chunks = await store.open(key);
    if (chunks === undefined) throw damaged(key, "it was listed but no longer exists", RESTORE);
    for await (const line of readLines(chunks, { what: key, remedy: RESTORE })) {
      proceed();
      found[kindOf(line, key)] += 1;
    }
  }
  const { added, changed, removed } = publication;
  if (found.added === added && found.changed === changed && found.removed === removed) return;
  throw damaged(
    prefix,
    `it has ${found.added} added, ${found.changed} changed and ${found.removed} removed, but the publication says ${added}, ${changed} and ${removed}`,
    RESTORE,
  );
}

function kindOf(line: string, key: string): z.infer<typeof CHANGE>["change"] {
  try {
    return CHANGE.parse(JSON.parse(line)).change;
  } catch {
    throw damaged(key, "it holds a line that is not a change", RESTORE); // the parser's own error quotes the line
  }
}
