// The changes from one snapshot to another, found by reading both whole.

import { SyncError } from "../../errors/sync-error.ts";
import { jsonLine } from "../../json/json-line.ts";
import { changedPointers } from "../../json/json-pointers.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { Manifest } from "../files/manifest.ts";
import { readParts } from "../files/parts.ts";
import { parseRow, type Row } from "./row.ts";

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

/** A row of the table `event_changes`. */
export interface Change {
  readonly uuid: string;
  readonly change: "added" | "changed" | "removed";
  /** JSON array of the JSON Pointers that differ; null unless `changed`. */
  readonly fields: string | null;
  /** The event's text; null where there is none. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Sorted by uuid. An event is `changed` when its details differ as values. Throws `STORE_CORRUPT` for unsorted rows. */
export async function* diffRows(
  before: AsyncIterable<Row>,
  after: AsyncIterable<Row>,
): AsyncGenerator<Change, void, undefined> {
  const oldRows = ascending(before);
  const newRows = ascending(after);
  try {
    let [old, current] = await Promise.all([nextOf(oldRows), nextOf(newRows)]);
    for (;;) {
      if (old && (!current || old.uuid < current.uuid)) {
        yield { uuid: old.uuid, change: "removed", fields: null, before: old.event, after: null };
        old = await nextOf(oldRows);
      } else if (current && (!old || current.uuid < old.uuid)) {
        yield { uuid: current.uuid, change: "added", fields: null, before: null, after: current.event };
        current = await nextOf(newRows);
      } else if (old && current) {
        const pointers = changedPointers(old.event, current.event);
        const fields = JSON.stringify(pointers);
        if (pointers.length > 0) {
          yield { uuid: old.uuid, change: "changed", fields, before: old.event, after: current.event };
        }
        [old, current] = await Promise.all([nextOf(oldRows), nextOf(newRows)]);
      } else return;
    }
  } finally {
    await Promise.all([oldRows.return(), newRows.return()]);
  }
}

/** One line of NDJSON without the newline. */
export function changeLine(change: Change): string {
  const { uuid, change: kind, fields, before, after } = change;
  return jsonLine({ uuid, change: kind, fields, before, after });
}

async function nextOf(rows: AsyncGenerator<Row, void>): Promise<Row | undefined> {
  const next = await rows.next();
  return next.done === true ? undefined : next.value;
}

async function* ascending(rows: AsyncIterable<Row>): AsyncGenerator<Row, void> {
  let previous = "";
  for await (const row of rows) {
    if (row.uuid <= previous) {
      throw new SyncError(
        "STORE_CORRUPT",
        "A snapshot's rows are not sorted by uuid, or a uuid occurs twice. Restore its files from a backup or an older version.",
        { fields: { uuid: row.uuid } },
      );
    }
    previous = row.uuid;
    yield row;
  }
}
