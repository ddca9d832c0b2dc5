// Random events of a snapshot, with the texts that they had when it was made.

import type { Random } from "../../runtime/random.ts";
import type { Manifest } from "../../snapshot/files/manifest.ts";
import { readParts } from "../../snapshot/files/parts.ts";
import { parseRow } from "../../snapshot/rows/row.ts";
import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";

export interface SampledEvent {
  readonly uuid: string;
  /** As the service listed it: how the detail is requested. */
  readonly requestAs: string;
  /** Its text in the snapshot. */
  readonly event: string;
}

export interface SampleOptions {
  /** How many events; all of them where the snapshot has fewer. */
  readonly size: number;
  readonly random: Pick<Random, "next">;
  /** Called for each row; may throw to stop. */
  readonly proceed: () => void;
}

/**
 * All sets of that many events are equally likely. Yields the events of one part at a time, once the whole part
 * is verified, so nothing is sent for a row that is damaged, and no more than a part is in memory. Throws
 * `STORE_CORRUPT` for a part that is missing or damaged.
 */
export async function* sampleEvents(
  store: Store,
  { account, snapshot_id, counts, parts }: Pick<Manifest, "account" | "snapshot_id" | "counts" | "parts">,
  { size, random, proceed }: SampleOptions,
): AsyncGenerator<readonly SampledEvent[]> {
  let left = counts.events;
  let wanted = Math.min(size, left);
  for (const part of parts) {
    if (wanted === 0) return;
    const chosen: string[] = [];
    for await (const line of readParts(store, layout.snapshot(account, snapshot_id), [part])) {
      proceed();
      // Selection sampling: with as many rows left as are wanted, each of them is taken.
      if (random.next() * left < wanted) {
        chosen.push(line);
        wanted -= 1;
      }
      left -= 1;
    }
    if (chosen.length > 0) yield chosen.map(sampledEvent);
  }
}

function sampledEvent(line: string): SampledEvent {
  const { uuid, event, listing } = parseRow(line);
  return { uuid, requestAs: spellingIn(listing, uuid) ?? uuid, event };
}

/** A list that is keyed by uuid has none in the entries. */
function spellingIn(listing: string, uuid: string): string | undefined {
  const entry: unknown = JSON.parse(listing);
  const listed = typeof entry === "object" && entry !== null && "uuid" in entry ? entry.uuid : undefined;
  return typeof listed === "string" && listed.toLowerCase() === uuid ? listed : undefined;
}
