// Which rows of two snapshots differ, by their digests alone.

import { RECORD_BYTES, UUID_BYTES } from "./row-digests.ts";

/** The places of rows, counted from 0, that a comparison has to read. */
export interface DifferingRows {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/**
 * The rows that one side lacks or whose texts differ. Equal digests mean equal texts; texts that differ may still be equal
 * as values.
 */
export function differingRows(before: Buffer, after: Buffer): DifferingRows {
  const found: { readonly before: number[]; readonly after: number[] } = { before: [], after: [] };
  let old = 0;
  let current = 0;
  while (old < before.length || current < after.length) {
    const order = compareUuids(before, old, after, current);
    const isSame = order === 0 && compareDigests(before, old, after, current) === 0;
    if (order <= 0 && !isSame) found.before.push(old / RECORD_BYTES);
    if (order >= 0 && !isSame) found.after.push(current / RECORD_BYTES);
    if (order <= 0) old += RECORD_BYTES;
    if (order >= 0) current += RECORD_BYTES;
  }
  return found;
}

/** A side that has ended comes last. */
function compareUuids(before: Buffer, old: number, after: Buffer, current: number): number {
  if (old === before.length) return 1;
  if (current === after.length) return -1;
  return before.compare(after, current, current + UUID_BYTES, old, old + UUID_BYTES);
}

function compareDigests(before: Buffer, old: number, after: Buffer, current: number): number {
  const [from, to] = [UUID_BYTES, RECORD_BYTES];
  return before.compare(after, current + from, current + to, old + from, old + to);
}
