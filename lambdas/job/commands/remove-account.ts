// Takes an account out of a warehouse: out of the log and the tables first, then its files, so that no reader and no
// other process ever finds a publication whose files are missing.

import { undefinedIfDamaged } from "../errors/sync-error.ts";
import { whileLeased } from "../run/lease/lease-account.ts";
import type { Skipped } from "../run/record/run-result.ts";
import type { RunPorts } from "../run/run-ports.ts";
import { accountFolders, keysOf } from "../storage/known-accounts.ts";
import { formatRunId, isOfLayout } from "../storage/layout.ts";
import { createRemoval, readLogSince } from "../storage/publication-log.ts";
import type { AccountStore } from "../storage/store.ts";

export type RemovePorts = Pick<
  RunPorts,
  "store" | "catalog" | "clock" | "random" | "logger" | "process" | "isGone" | "signal"
>;

/** Files that are deleted at the same time: none of them counts any more. */
const AT_ONCE = 16;

/**
 * Refused while a run, a command or an execution has the lease. May be repeated after it was stopped at any point. The
 * entry of the log stays, and the lease is deleted last, so that an account that is half removed is still known.
 */
export async function removeAccount(ports: RemovePorts): Promise<"removed" | Skipped> {
  return whileLeased(ports, "remove", undefined, async (lease, leased): Promise<"removed"> => {
    const { store, catalog, clock, random, signal } = leased;
    const atMs = clock.now();
    const named = { runId: formatRunId(atMs), atMs, writeId: random.token() };
    const removal = store.keys.publication(await createRemoval(store, named));
    await catalog.refresh(store.account);
    const keys = (await keysOf(store)).filter((key) => key !== removal && key !== store.keys.lease);
    // A run that began after the removal has had the lease: where it is still ours, all of these are older.
    await lease.confirm();
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      signal.throwIfAborted();
      await Promise.all(keys.slice(at, at + AT_ONCE).map((key) => store.delete(key)));
    }
    await lease.confirm();
    await store.delete(store.keys.lease);
    return "removed";
  });
}

/** Everything that a warehouse holds of an account, folder by folder. */
interface AccountFiles {
  readonly publications: number;
  /** Published, held and unfinished ones. */
  readonly snapshots: number;
  readonly files: number;
  /** Not of the layout, so `remove` leaves them. */
  readonly foreign: readonly string[];
}

/** Reads only. An account without any file of the layout does not exist; the entry that says that it was removed does not count. */
export async function countFiles(store: AccountStore): Promise<AccountFiles> {
  const snapshots = new Set<string>();
  // A log that is damaged is removed as well.
  const newest = (await readLogSince(store, "").catch(undefinedIfDamaged))?.removal;
  const removal = newest && store.keys.publication(newest.publication);
  let publications = 0;
  let files = 0;
  const foreign: string[] = [];
  for (const folder of accountFolders(store)) {
    for await (const { key } of store.list(folder)) {
      if (key === removal) continue;
      if (!isOfLayout(key)) {
        foreign.push(key);
        continue;
      }
      files += 1;
      if (folder === store.keys.publications) publications += 1;
      if (folder === store.keys.snapshots) snapshots.add(key.slice(folder.length).split("/", 1)[0] ?? "");
    }
  }
  return { publications, snapshots: snapshots.size, files, foreign };
}
