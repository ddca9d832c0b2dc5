// The end of a run that has published, read from the log, so that every process finds the same.

import { type Publication, publicationBefore } from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";
import type { RunEnd } from "../run-state.ts";

/** Its reason is `DAMAGED_HEAD` where the changes are not those against the publication before. */
export async function publishedEnd(
  store: Store,
  account: string,
  { publication, base_snapshot_id: base }: Publication,
): Promise<RunEnd> {
  const head = await publicationBefore(store, account, publication);
  if (head === undefined || head.snapshot_id === base) return { outcome: "PUBLISHED", reason: null };
  const against = base === null ? "Every event is added" : `The changes are those against ${base}`;
  return {
    outcome: "PUBLISHED",
    reason: "DAMAGED_HEAD",
    explanation: `What readers saw before, ${head.snapshot_id}, is damaged, or changes that led to it are lost. ${against}: a reader that applies event_changes in order starts again from there.`,
  };
}
