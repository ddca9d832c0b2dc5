// Deletes what runs staged more than 14 days ago. In a bucket a lifecycle rule does it.

import { layout } from "../../../lambdas/job/storage/layout.ts";
import { runInstant } from "../../../lambdas/job/storage/run-id.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";

const RUN_FILES_KEPT_MS = 14 * 24 * 60 * 60 * 1000;

/** Nothing can be resumed after that time, and no table reads these files. */
export async function expireRuns(store: Store, account: string, nowMs: number): Promise<void> {
  const prefix = layout.runs(account);
  for await (const { key } of store.list(prefix)) {
    const startedAtMs = runInstant(key.slice(prefix.length).split("/")[0] ?? "");
    // Keys come in the order of the instants, so the first that is young ends the search.
    if (startedAtMs !== undefined && startedAtMs >= nowMs - RUN_FILES_KEPT_MS) return;
    if (startedAtMs !== undefined) await store.delete(key);
  }
}
