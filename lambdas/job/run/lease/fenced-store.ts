// The store of a process that has the lease: one that was stopped for a while, and wakes up when another process works,
// finds that out before it writes. It is confirmed always before what decides, and before everything else where a renewal
// was missed. Once the loss is known, nothing is written.
//
// What a write that is under way brings yet does no harm: rows without a record count for nothing, and the log has
// conditions of its own. Readers' tables follow the log, so the catalog needs no fence.

import { decidesRun } from "../../storage/layout.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { Lease } from "./lease.ts";

/**
 * Throws the `StartSkipped` of the lease in the place of a write. An attempt's own line, and the outcome of what is
 * published, are written to the store itself: they are true also without the lease.
 */
export function fencedStore(
  store: AccountStore,
  lease: Pick<Lease, "confirm" | "isRenewalOverdue" | "lost">,
): AccountStore {
  /** Of the deletions that follow one another: the first one confirms the lease for all. */
  let deleting: Promise<void> | undefined;
  const pass = async (isDeciding: boolean): Promise<void> => {
    lease.lost.throwIfAborted();
    if (isDeciding || lease.isRenewalOverdue) await lease.confirm();
  };
  const passWrite = (key: string): Promise<void> => {
    deleting = undefined;
    return pass(decidesRun(key));
  };
  return {
    ...store,
    create: async (key, body) => {
      await passWrite(key);
      return store.create(key, body);
    },
    copy: async (from, to) => {
      await passWrite(to);
      return store.copy(from, to);
    },
    replace: async (key, bytes, version) => {
      await passWrite(key);
      return store.replace(key, bytes, version);
    },
    delete: async (keys) => {
      if (keys.length === 0) return;
      deleting ??= pass(true);
      await deleting;
      await pass(false);
      return store.delete(keys);
    },
  };
}
