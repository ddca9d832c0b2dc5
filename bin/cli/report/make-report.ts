// Reads what the warehouse says of its accounts and makes the page of it.

import type { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import type { CommandsFor } from "./account-section.ts";
import { type ReportedAccount, type RequestLimit, readAccount } from "./data/account-report.ts";
import { reportPage } from "./report-page.ts";

export interface ReportOptions {
  readonly store: Store;
  /** In the order of the page. */
  readonly accounts: readonly string[];
  readonly limitOf: (account: string) => RequestLimit;
  readonly warehouse: string;
  readonly nowMs: number;
  readonly commandsFor: CommandsFor;
}

export interface Report {
  /** The same for the same files, instant and command. */
  readonly page: string;
  /** The accounts of which the page only says why they cannot be read. */
  readonly damaged: readonly { readonly account: string; readonly damage: SyncError }[];
}

/** Reads only. Throws `STORE_FAILED`. */
export async function makeReport({ store, limitOf, nowMs, ...options }: ReportOptions): Promise<Report> {
  const accounts: ReportedAccount[] = [];
  for (const account of options.accounts) {
    accounts.push(await readAccount(accountStore(store, account), limitOf(account), nowMs));
  }
  const { warehouse, commandsFor } = options;
  const page = reportPage({ accounts, warehouse, nowMs, commandsFor });
  return { page, damaged: accounts.filter((one) => "damage" in one) };
}
