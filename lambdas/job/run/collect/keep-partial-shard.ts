// Keeps what an unfinished run has fetched of begun shards, so that the next start does not fetch it again.

import type { Logger } from "../../runtime/logger.ts";
import type { PartialShard } from "../../snapshot/staging/shard-writer.ts";
import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { countText } from "../record/count-text.ts";
import type { UnfinishedRun } from "./unfinished-run.ts";

/** Other processes that work on this run by accident may write such files, too. */
const MAX_TRIES = 5;

export interface KeepingTask {
  readonly store: Store;
  readonly logger: Logger;
  readonly account: string;
  readonly work: UnfinishedRun;
  /** The shards that are not staged. */
  readonly unstaged: readonly number[];
}

/** Writes once. Never throws: this only saves requests, and the error to report is the one that ended the run. */
export async function keepPartialShard(task: KeepingTask, { file, events }: PartialShard): Promise<void> {
  const { store, logger, account, work, unstaged } = task;
  const { plan, keptFiles } = work;
  try {
    for (let n = keptFiles; n < keptFiles + MAX_TRIES; n += 1) {
      const version = await store.create(layout.partialShard(account, plan.header.run_id, n), file);
      if (version === undefined) continue;
      const open = unstaged.reduce((sum, index) => sum + plan.sizeOf(index), 0);
      const total = plan.header.events;
      logger.info(
        `${countText(total - open + events)} of ${countText(total)} events are kept for the next start of this run`,
      );
      return;
    }
  } catch {
    // The warning below covers it: these events are fetched again.
  }
  logger.warn(
    "the events fetched for unfinished shards could not be kept; the next start fetches them again",
  );
}
