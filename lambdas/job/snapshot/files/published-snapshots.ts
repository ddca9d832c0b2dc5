// Which snapshots a publication names. A manifest says where the log ended when its run was planned, so that what the log
// says of it is found without reading all of it.

import { undefinedIfDamaged } from "../../errors/sync-error.ts";
import { runInstant } from "../../storage/layout.ts";
import { type LogMark, placeOf } from "../../storage/log-mark.ts";
import { publishedAmong } from "../../storage/log-search.ts";
import type { Publication } from "../../storage/publication.ts";
import type { AccountStore } from "../../storage/store.ts";
import { readManifest } from "./manifest.ts";

/** Where the log ended when the snapshot was planned, as far as its manifest says it. */
export async function plannedAt(store: AccountStore, snapshotId: string): Promise<LogMark> {
  if (runInstant(snapshotId) === undefined) return undefined;
  return (await readManifest(store, snapshotId).catch(undefinedIfDamaged))?.log_end;
}

/** The snapshots that a publication names, of the given ones, by id, with the first one that is found of each. */
export async function publishedOf(
  store: AccountStore,
  snapshotIds: Iterable<string>,
): Promise<ReadonlyMap<string, Publication>> {
  const planned = new Map<string, string | undefined>();
  for (const id of snapshotIds) planned.set(id, await placeOf(store, await plannedAt(store, id)));
  return publishedAmong(store, planned);
}
