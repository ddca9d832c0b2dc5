// The changes from one snapshot to another, found by reading both whole.

import type { AccountStore } from "../../storage/store.ts";
import type { Manifest } from "../files/manifest.ts";
import { readParts } from "../files/parts.ts";
import { type Change, diffRows } from "../rows/diff-rows.ts";
import { parseRow, type Row } from "../rows/row.ts";

/**
 * Sorted by uuid. Throws `STORE_CORRUPT` for a part of either snapshot that is missing or damaged; this may show only at
 * the end, so use nothing made of the changes before this returns.
 * @param before undefined where there is nothing to compare with: every event is `added`
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export function compareSnapshots(
  store: AccountStore,
  before: Manifest | undefined,
  after: Manifest,
  proceed?: () => void,
): AsyncGenerator<Change, void, undefined> {
  return diffRows(rowsOf(store, before, proceed), rowsOf(store, after, proceed));
}

/** All rows of a snapshot; none where there is no snapshot. Throws as `readParts` does. */
export async function* rowsOf(
  store: AccountStore,
  manifest: Manifest | undefined,
  proceed: () => void = () => undefined,
): AsyncGenerator<Row, void, undefined> {
  if (manifest === undefined) return;
  for await (const line of readParts(store, store.keys.snapshot(manifest.snapshot_id), manifest.parts)) {
    proceed();
    yield parseRow(line);
  }
}
