// The changes from one snapshot to another: by their digests where both have them, so that only rows that differ are
// read; else by all of their rows.

import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import type { Manifest } from "../files/manifest.ts";
import { readParts } from "../files/parts.ts";
import { verifyFile } from "../files/verify-part.ts";
import { type Change, diffRows } from "../rows/diff-rows.ts";
import { parseRow, type Row } from "../rows/row.ts";
import { differingRows } from "./differing-rows.ts";
import { readDigests } from "./digests.ts";
import { type ChosenRows, readChosen } from "./read-chosen.ts";

/**
 * Sorted by uuid. Verifies all parts of both snapshots, also those of which it needs no row. Throws `STORE_CORRUPT` for a
 * part that is damaged; this may show only at the end, so use nothing made of the changes before this returns.
 * @param before undefined where there is nothing to compare with: every event is `added`
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export async function* compareSnapshots(
  store: Store,
  before: Manifest | undefined,
  after: Manifest,
  proceed: () => void = () => undefined,
): AsyncGenerator<Change, void, undefined> {
  const chosen = before && (await differing(store, before, after));
  proceed(); // without a row that differs no row is read any more
  if (chosen) {
    await Promise.all([verifyFiles(store, before, proceed), verifyFiles(store, after, proceed)]);
  }
  yield* diffRows(
    rowsOf(store, before, proceed, chosen?.before),
    rowsOf(store, after, proceed, chosen?.after),
  );
}

/** Also those of which no row is needed: unzipping them would take as long as the rest of the comparison. */
async function verifyFiles(store: Store, manifest: Manifest, proceed: () => void): Promise<void> {
  const prefix = layout.snapshot(manifest.account, manifest.snapshot_id);
  for (const [index, part] of manifest.parts.entries())
    await verifyFile(store, `${prefix}${part.file}`, part, manifest.stored?.[index], proceed);
}

/** All rows of a snapshot, or those at the chosen places; none where there is no snapshot. */
export async function* rowsOf(
  store: Store,
  manifest: Manifest | undefined,
  proceed: () => void = () => undefined,
  chosen?: ChosenRows,
): AsyncGenerator<Row> {
  if (manifest === undefined) return;
  const prefix = layout.snapshot(manifest.account, manifest.snapshot_id);
  if (chosen) {
    yield* readChosen(store, prefix, manifest.parts, chosen, proceed);
    return;
  }
  for await (const line of readParts(store, prefix, manifest.parts)) {
    proceed();
    yield parseRow(line);
  }
}

/** Undefined where one of them has no digests that can be relied on. */
async function differing(
  store: Store,
  before: Manifest,
  after: Manifest,
): Promise<{ readonly before: ChosenRows; readonly after: ChosenRows } | undefined> {
  const old = await readDigests(store, before);
  const current = old && (await readDigests(store, after));
  if (old === undefined || current === undefined) return undefined;
  const places = differingRows(old, current);
  return {
    before: { places: places.before, digests: old },
    after: { places: places.after, digests: current },
  };
}
