// The changes from one snapshot to another, found by reading both whole.

import { damageIn, isDamage, SyncError } from "../../errors/sync-error.ts";
import { jsonLine } from "../../json/json-line.ts";
import { changedPointers } from "../../json/json-pointers.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { Manifest } from "../files/manifest.ts";
import { readParts, verifyPart } from "../files/parts.ts";
import { parseRow, type Row } from "./row.ts";

/**
 * Sorted by uuid. Throws `STORE_CORRUPT` for a part of either snapshot that is missing or damaged; this may show only at
 * the end, so use nothing made of the changes before this returns.
 * @param before undefined where there is nothing to compare with: every event is `added`
 * @param proceed called repeatedly while it reads; may throw to stop
 */
export async function* compareSnapshots(
  store: AccountStore,
  before: Manifest | undefined,
  after: Manifest,
  proceed?: () => void,
): AsyncGenerator<Change, void, undefined> {
  try {
    yield* diffRows(rowsOf(store, before, proceed), rowsOf(store, after, proceed));
  } catch (error) {
    throw await damageOf(error, store, [before, after], proceed);
  }
}

/**
 * The damage that names its file, where a comparison of these snapshots met any; every other error as it is. A damaged part
 * may show in its rows before it shows in its checksum, and a row does not know its file.
 */
export async function damageOf(
  error: unknown,
  store: AccountStore,
  manifests: readonly (Manifest | undefined)[],
  proceed?: () => void,
): Promise<unknown> {
  if (!isDamage(error)) return error;
  for (const { snapshot_id: snapshotId, parts } of manifests.filter((each) => each !== undefined)) {
    for (const part of parts) {
      const key = `${store.keys.snapshot(snapshotId)}${part.file}`;
      const damage = await damageIn(verifyPart(store, key, part, { proceed }));
      if (damage) return damage;
    }
  }
  return error;
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
  /** The JSON Pointers that differ; null unless `changed`. */
  readonly fields: readonly string[] | null;
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
        const fields = changedPointers(old.event, current.event);
        if (fields.length > 0) {
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
  return jsonLine({ uuid, change: kind, fields: fields && JSON.stringify(fields), before, after });
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
        "A snapshot's rows are not sorted by uuid, or a uuid occurs twice.",
        { fields: { uuid: row.uuid }, next: "Restore its files from a backup or an older version." },
      );
    }
    previous = row.uuid;
    yield row;
  }
}
