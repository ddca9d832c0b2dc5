// The newest publications of an account.

import { publicationId } from "../../../../lambdas/job/storage/layout.ts";
import { type Publication, readPublication } from "../../../../lambdas/job/storage/publication-log.ts";
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
  const total = Number(head.publication);
  const shown: Publication[] = [];
  for (let first = Math.max(1, total - MOST + 1); first <= total; first += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, total - first + 1) }, (_, index) => first + index);
    shown.push(...(await Promise.all(numbers.map((n) => readPublication(store, account, publicationId(n))))));
  }
  return { shown, total };
}
