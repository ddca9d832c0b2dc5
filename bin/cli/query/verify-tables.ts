// What a query shows is what was published: the files of its tables are verified before their first use.

import {
  type AccountLog,
  changesOf,
  headsOf,
  keptOf,
  type Published,
} from "../../../lambdas/job/catalog/duckdb/table-folders.ts";
import { tablesBehind } from "../../../lambdas/job/catalog/views/views.ts";
import { addDamagedHeadRemedy } from "../../../lambdas/job/snapshot/files/add-damaged-head-remedy.ts";
import { checkForeign } from "../../../lambdas/job/snapshot/files/check-foreign.ts";
import { verifyChanges } from "../../../lambdas/job/snapshot/files/verify-changes.ts";
import { verifySnapshot } from "../../../lambdas/job/snapshot/files/verify-snapshot.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import { VerifiedFolders } from "./verified-folders.ts";

export interface VerifyTablesOptions {
  readonly store: Store;
  readonly directory: string;
  readonly accounts: readonly AccountLog[];
  /** Names in lower case, of tables and of views over them; others are left aside. */
  readonly tables: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/**
 * Parts of snapshots against the checksums of their manifests; parts of changes, which have none, against gzip's
 * own and the counts of their publication. Throws `STORE_CORRUPT` naming the file; the signal's
 * reason when that aborts.
 */
export async function verifyTables(options: VerifyTablesOptions): Promise<void> {
  const { store, directory, accounts, signal } = options;
  const tables = tablesBehind(options.tables);
  const proceed = (): void => signal.throwIfAborted();
  const verified = await VerifiedFolders.open(directory);
  if (tables.has("events")) for (const head of headsOf(accounts)) await verifyHead(head);
  if (tables.has("event_snapshots")) for (const kept of keptOf(accounts)) await verifyRows(kept);
  if (tables.has("event_changes")) {
    for (const { account, publication } of changesOf(accounts)) {
      const folder = layout.changes(account, publication.publication, publication.snapshot_id);
      await verified.once(folder, () => verifyChanges(store, account, publication, proceed));
    }
  }

  async function verifyHead(head: Published): Promise<void> {
    await verifyRows(head).catch((error: unknown) => {
      throw addDamagedHeadRemedy(error, head.account);
    });
  }

  function verifyRows({ account, publication: { snapshot_id } }: Published): Promise<void> {
    return verified.once(layout.snapshot(account, snapshot_id), async () =>
      checkForeign(store, await verifySnapshot(store, account, snapshot_id, proceed), isInView),
    );
  }
}

/** The views name the files by this pattern. */
function isInView(file: string): boolean {
  return /^part-.*\.ndjson\.gz$/.test(file);
}
