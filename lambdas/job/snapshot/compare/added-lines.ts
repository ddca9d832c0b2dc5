// The changes of a snapshot that is compared with nothing: every event is `added`. They are copied out of the rows as
// bytes: the event's text is in a row's line as it is in a change's.

import type { AccountStore } from "../../storage/store.ts";
import type { Manifest } from "../files/manifest.ts";
import { readPartBytes } from "../files/parts.ts";
import type { PartInfo } from "../files/verify-part.ts";
import { changeLine, unsorted } from "../rows/diff-rows.ts";
import { parseRow } from "../rows/row.ts";

/**
 * The lines of the table `event_changes` for one part, each valid until the next one is asked for. Throws as `compareSnapshots` does.
 * @param proceed called for each row; may throw to stop
 */
export async function* addedLines(
  store: AccountStore,
  { snapshot_id: snapshotId }: Pick<Manifest, "snapshot_id">,
  part: PartInfo,
  proceed: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const copy = new AddedLine();
  let previous = "";
  for await (const row of readPartBytes(store, store.keys.snapshot(snapshotId), [part])) {
    proceed();
    const { uuid, line } = copy.of(row);
    if (uuid <= previous) throw unsorted(uuid);
    previous = uuid;
    yield line;
  }
}

const START = Buffer.from('{"uuid":"');
// Within a text of JSON each quote has a backslash before it, so these are found between texts only.
const EVENT = Buffer.from(',"event":"');
const LISTING = Buffer.from('","listing":"');
const ADDED = Buffer.from('","change":"added","fields":null,"before":null,"after":"');
const END = Buffer.from('"}');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Makes a change's line of a row's. */
export class AddedLine {
  #line = Buffer.allocUnsafeSlow(4 * 1024);

  /** The line is valid until the next call. */
  of(row: Buffer): { readonly uuid: string; readonly line: Uint8Array } {
    const uuidEnd = row.indexOf(QUOTE, START.length);
    const event = row.indexOf(EVENT, uuidEnd) + EVENT.length;
    const eventEnd = row.indexOf(LISTING, event);
    const uuid = row.subarray(START.length, uuidEnd);
    const isAsWritten = row.subarray(0, START.length).equals(START) && !uuid.includes(BACKSLASH);
    if (!isAsWritten || event <= EVENT.length || eventEnd === -1) return parsed(row);
    const bytes = START.length + uuid.length + ADDED.length + (eventEnd - event) + END.length;
    if (bytes > this.#line.length) this.#line = Buffer.allocUnsafeSlow(2 * bytes);
    const pieces = [START, uuid, ADDED, row.subarray(event, eventEnd), END];
    let end = 0;
    for (const piece of pieces) {
      this.#line.set(piece, end);
      end += piece.length;
    }
    return { uuid: uuid.toString("utf8"), line: this.#line.subarray(0, end) };
  }
}

/** For a row that is written in another way than by this version. */
function parsed(row: Buffer): { readonly uuid: string; readonly line: Uint8Array } {
  const { uuid, event } = parseRow(row.toString("utf8"));
  return {
    uuid,
    line: Buffer.from(changeLine({ uuid, change: "added", fields: null, before: null, after: event })),
  };
}
