// Deletes what runs staged more than 14 days ago. In a bucket a lifecycle rule does it.

import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { deletable } from "../../../lambdas/job/storage/deletable.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import { runInstant } from "../../../lambdas/job/storage/run-id.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";

const RUN_FILES_KEPT_MS = 14 * 24 * 60 * 60 * 1000;

/** Nothing can be resumed after that time, and no table reads these files. */
export async function expireRuns(
  store: Store,
  account: string,
  nowMs: number,
  logger: Pick<Logger, "warn">,
): Promise<void> {
  const mayDelete = deletable(logger);
  const prefix = layout.runs(account);
  for await (const file of store.list(prefix)) {
    const startedAtMs = runInstant(file.key.slice(prefix.length).split("/")[0] ?? "");
    // Keys come in the order of the instants, so the first that is young ends the search.
    if (startedAtMs !== undefined && startedAtMs >= nowMs - RUN_FILES_KEPT_MS) return;
    if (startedAtMs !== undefined && mayDelete(file)) await store.delete(file.key);
  }
}
