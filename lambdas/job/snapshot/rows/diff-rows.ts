// What one snapshot changed against the one before, found in one pass over rows that are sorted by uuid.

import { SyncError } from "../../errors/sync-error.ts";
import { changedPointers } from "../../json/changed-pointers.ts";
import { jsonLine } from "../../json/json-line.ts";
import type { Row } from "./row.ts";

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
  const olds = ascending(before);
  const news = ascending(after);
  try {
    let [old, now] = await Promise.all([nextOf(olds), nextOf(news)]);
    for (;;) {
      if (old && (!now || old.uuid < now.uuid)) {
        yield { uuid: old.uuid, change: "removed", fields: null, before: old.event, after: null };
        old = await nextOf(olds);
      } else if (now && (!old || now.uuid < old.uuid)) {
        yield { uuid: now.uuid, change: "added", fields: null, before: null, after: now.event };
        now = await nextOf(news);
      } else if (old && now) {
        const pointers = changedPointers(old.event, now.event);
        const fields = JSON.stringify(pointers);
        if (pointers.length > 0) {
          yield { uuid: old.uuid, change: "changed", fields, before: old.event, after: now.event };
        }
        old = await nextOf(olds);
        now = await nextOf(news);
      } else return;
    }
  } finally {
    await Promise.all([olds.return(), news.return()]);
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
    if (row.uuid <= previous) throw unsorted(row.uuid);
    previous = row.uuid;
    yield row;
  }
}

function unsorted(uuid: string): SyncError {
  return new SyncError(
    "STORE_CORRUPT",
    "A snapshot's rows are not sorted by uuid, each one once. Restore its files from a backup or an older version.",
    { fields: { uuid } },
  );
}
