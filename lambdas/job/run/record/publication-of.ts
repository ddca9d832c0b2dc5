// The publication that a run, an accept or a rollback made.

import { findPublicationOf, type Publication, readLog } from "../../storage/publication-log.ts";
import type { Store } from "../../storage/store.ts";
import { isRun, type RunLogEntry } from "./run-log.ts";

/** Undefined where nothing was published. */
export async function publicationOf(
  store: Store,
  account: string,
  { outcome, trigger, run_id: runId }: RunLogEntry,
): Promise<Publication | undefined> {
  if (outcome !== "PUBLISHED") return undefined;
  if (isRun(trigger)) return findPublicationOf(store, account, runId);
  return (await readLog(store, account)).findLast(({ run_id }) => run_id === runId);
}
