// Everything that the report says of one account, read from its warehouse.

import { lastRuns } from "../../../../lambdas/job/run/record/last-runs.ts";
import { isRun, type RunLogEntry } from "../../../../lambdas/job/run/record/run-log.ts";
import { type Status, status } from "../../../../lambdas/job/run/status.ts";
import type { Limit } from "../../../../lambdas/job/settings/limit.ts";
import { type DamagedAccount, orDamage } from "../../../../lambdas/job/storage/known-accounts.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { type FieldNews, readFieldNews } from "./field-news.ts";
import { type LastPublications, readLastPublications } from "./last-publications.ts";
import { type LeftOutCounts, readLeftOut } from "./left-out-counts.ts";
import { readStorage, type StorageUse } from "./storage-use.ts";

export interface RequestLimit {
  readonly requestsPerMinute: Limit;
  readonly limitWindowSeconds: number;
}

export interface AccountReport {
  readonly account: string;
  readonly status: Status;
  readonly publications: LastPublications;
  /** The last attempts of runs, oldest first. */
  readonly runs: readonly RunLogEntry[];
  /** Attempts of every kind in the whole run log. */
  readonly allAttempts: number;
  readonly limit: RequestLimit;
  readonly fieldNews: FieldNews;
  /** Undefined where nothing is published, or the manifest cannot be read. */
  readonly leftOut: LeftOutCounts | undefined;
  readonly storage: StorageUse;
}

export type ReportedAccount = AccountReport | DamagedAccount;

const MOST_RUNS = 60;

/** Reads only, and no event. Throws `STORE_FAILED`. */
export async function readAccount(
  store: Store,
  account: string,
  limit: RequestLimit,
  nowMs: number,
): Promise<ReportedAccount> {
  return await orDamage(account, async () => {
    const found = await status(store, account, nowMs);
    const publications = await readLastPublications(store, account, found.head);
    const { runs, total } = await lastRuns(store, account, MOST_RUNS);
    return {
      account,
      status: found,
      publications,
      runs: runs.filter(({ trigger }) => isRun(trigger)).toReversed(),
      allAttempts: total,
      limit,
      fieldNews: await readFieldNews(store, account, publications.shown),
      leftOut: await readLeftOut(store, account, found.head),
      storage: await readStorage(store, account, found, publications.shown),
    };
  });
}
