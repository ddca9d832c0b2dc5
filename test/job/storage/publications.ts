// Publications as tests need them: a valid one, with what matters to the test put in its place.

import type { Publication } from "../../../lambdas/job/storage/publication.ts";
import { publish } from "../../../lambdas/job/storage/publication-log.ts";
import { type AccountStore, accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "./memory-store.ts";

export const aPublication = (over: Partial<Publication> = {}): Publication => ({
  publication: "0000000001",
  action: "run",
  snapshot_id: "2026-11-21T06-00-00.000Z",
  base_snapshot_id: null,
  published_at: "2026-11-21T06:00:30.000Z",
  events: 3,
  added: 3,
  changed: 0,
  removed: 0,
  run_id: "2026-11-21T06-00-00.000Z",
  pinned: false,
  write_id: "write-1",
  ...over,
});

export const FIRST = aPublication();
export const SECOND = aPublication({
  publication: "0000000002",
  snapshot_id: "2026-11-22T06-00-00.000Z",
  base_snapshot_id: "2026-11-21T06-00-00.000Z",
  run_id: "2026-11-22T06-00-00.000Z",
  write_id: "write-2",
});

/** What the store has of the account `uk`. */
export const uk = (store: Store): AccountStore => accountStore(store, "uk");

/** A store with these publications of the account `uk`. */
export async function logOf(...publications: readonly Publication[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const publication of publications) await publish(uk(store), publication);
  return store;
}
