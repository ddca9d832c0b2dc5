// Takes an account out of a warehouse: out of the tables first, then its files, in an order in which no reader and no
// other process ever finds a publication whose files are missing.

import type { RemovableCatalog } from "../../catalog/catalog.ts";
import { isOfLayout, layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { acquireLease } from "../lease/acquire-lease.ts";
import { Lease } from "../lease/lease.ts";
import { LeaseLost } from "../lease/lease-lost.ts";
import { leaseNameOf } from "../lease/lease-name.ts";
import { type Skipped, skippedAsLost, skippedAsTaken } from "../lease/skipped.ts";
import type { RunPorts } from "../run-ports.ts";
import { accountFolders } from "./account-files.ts";

export interface RemovePorts
  extends Pick<RunPorts, "store" | "clock" | "random" | "logger" | "process" | "isGone" | "signal"> {
  readonly catalog: RemovableCatalog;
}

/** Files that are deleted at the same time, once their order does not matter. */
const AT_ONCE = 16;

/**
 * Refused while a run, a command or an execution has the lease. May be repeated after it was stopped at any point. The
 * lease itself is deleted last, so that an account that is half removed is still known.
 */
export async function removeAccount(ports: RemovePorts, account: string): Promise<"removed" | Skipped> {
  const { store, clock, logger, random, isGone } = ports;
  const holder = { token: random.token(), ...ports.process };
  const lease = await acquireLease(
    { store, account, clock, logger, holder, isGone },
    {
      runId: leaseNameOf("remove", clock.now()),
      waitForOwnRun: false,
      waitForCommand: false,
      signal: ports.signal,
    },
  );
  if (!(lease instanceof Lease)) return skippedAsTaken(lease);
  const signal = AbortSignal.any([ports.signal, lease.lost]);
  try {
    await removeAll({ ...ports, signal }, account);
    await lease.confirm();
    await store.delete(layout.lease(account));
    return "removed";
  } catch (error) {
    if (ports.signal.aborted || !(lease.lost.reason instanceof LeaseLost)) throw error;
    return skippedAsLost(lease.lost.reason);
  } finally {
    await lease.release();
  }
}

async function removeAll({ store, catalog, signal }: RemovePorts, account: string): Promise<void> {
  do {
    await catalog.remove(account);
    await deletePublications(store, account, signal);
    // A run of another account may have brought the tables up to the log meanwhile. From now on the log is empty.
    await catalog.remove(account);
    await deleteOthers(store, account, signal);
    // `accept` and `rollback` take no lease.
  } while ((await keysOf(store, layout.publications(account))).length > 0);
  // The tables of a directory name the files that there are.
  await catalog.remove(account);
}

/** Newest first: the publications that are left are a log without gaps, whose snapshots are all there. */
async function deletePublications(store: Store, account: string, signal: AbortSignal): Promise<void> {
  for (const key of (await keysOf(store, layout.publications(account))).toReversed()) {
    signal.throwIfAborted();
    await store.delete(key);
  }
}

/** All but the publications and the lease. */
async function deleteOthers(store: Store, account: string, signal: AbortSignal): Promise<void> {
  for (const folder of accountFolders(account)) {
    if (folder === layout.publications(account)) continue;
    const keys = (await keysOf(store, folder)).filter((key) => key !== layout.lease(account));
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      signal.throwIfAborted();
      await Promise.all(keys.slice(at, at + AT_ONCE).map((key) => store.delete(key)));
    }
  }
}

async function keysOf(store: Store, prefix: string): Promise<readonly string[]> {
  return (await Array.fromAsync(store.list(prefix), ({ key }) => key)).filter(isOfLayout);
}
