// How many listed events have no row in the snapshot that readers see, by reason.

import type { Manifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { manifestIfWhole } from "./manifest-if-whole.ts";

type Counts = Manifest["counts"];

export interface LeftOutCounts {
  readonly now: Counts;
  /** Of the snapshot that the head is compared with; undefined where that is gone. */
  readonly before: Counts | undefined;
}

export async function readLeftOut(
  store: Store,
  account: string,
  head: Publication | null,
): Promise<LeftOutCounts | undefined> {
  if (head === null) return undefined;
  const now = (await manifestIfWhole(store, account, head.snapshot_id))?.counts;
  const base = head.base_snapshot_id;
  const before = base === null ? undefined : (await manifestIfWhole(store, account, base))?.counts;
  return now && { now, before };
}
