// The newest publications of an account.

import { entryIds, type Publication, readEntry } from "../../../../lambdas/job/storage/publication-log.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";

export interface LastPublications {
  /** Oldest first. */
  readonly shown: readonly Publication[];
  /** Of the whole log. */
  readonly total: number;
}

/** Wide enough for a year of days; each is one small read. */
const MOST = 400;
const AT_ONCE = 8;

/** Up to the head. Throws `STORE_CORRUPT` for a damaged one. */
export async function readLastPublications(
  store: Store,
  account: string,
  head: Publication | null,
): Promise<LastPublications> {
  if (head === null) return { shown: [], total: 0 };
  const ids = (await entryIds(store, account)).filter((id) => id <= head.publication);
  let shown: Publication[] = [];
  for (let end = ids.length; end > 0 && shown.length < MOST; end -= AT_ONCE) {
    const some = ids.slice(Math.max(0, end - AT_ONCE), end);
    const entries = await Promise.all(some.map((id) => readEntry(store, account, id)));
    const cut = entries.findLastIndex((entry) => entry === undefined || entry.action === "remove");
    const above = entries.slice(cut + 1).filter((entry) => entry !== undefined && entry.action !== "remove");
    shown = [...above, ...shown];
    if (cut !== -1) return { shown, total: shown.length };
  }
  return { shown: shown.slice(-MOST), total: ids.length };
}
