// An account that this process works on: its lease, and the store that the lease fences.

import type { Limits } from "../../settings/values.ts";
import { decidesRun } from "../../storage/layout.ts";
import type { AccountStore } from "../../storage/store.ts";
import { type Skipped, StartSkipped } from "../record/run-result.ts";
import { type AcquirePorts, acquireLease } from "./acquire-lease.ts";
import { type Lease, type LeasedCommand, leaseNameOf } from "./lease.ts";

/**
 * Returns what `work` returns, or why it did not begin or did not end. The ports that `work` is given stop it when the
 * lease is lost, and write nothing then.
 */
export async function whileLeased<Ports extends AcquirePorts, T>(
  ports: Ports,
  command: LeasedCommand,
  limits: Limits | undefined,
  work: (lease: Lease, ports: Ports) => Promise<T>,
): Promise<T | Skipped> {
  let lease: Lease | undefined;
  try {
    lease = await acquireLease(ports, { runId: leaseNameOf(command, ports.clock.now()), limits });
    return await work(lease, whileHeld(ports, lease));
  } catch (error) {
    const cause: unknown = !ports.signal.aborted && lease?.lost.aborted ? lease.lost.reason : error;
    if (cause instanceof StartSkipped) return cause.end;
    throw error;
  } finally {
    await lease?.release();
  }
}

/** The ports of what works under the lease. */
export function whileHeld<Ports extends AcquirePorts>(ports: Ports, lease: Lease): Ports {
  const signal = AbortSignal.any([ports.signal, lease.lost]);
  return { ...ports, store: fencedStore(ports.store, lease), signal };
}

/**
 * The store of a process that has the lease: one that was stopped for a while, and wakes up when another process works,
 * finds that out before it writes. It is confirmed always before what decides, and before everything else where a renewal
 * was missed. Once the loss is known, nothing is written: each write throws the `StartSkipped` of the lease.
 *
 * What a write that is under way brings yet does no harm: rows without a record count for nothing, and the log has
 * conditions of its own. Readers' tables follow the log, so the catalog needs no fence. An attempt's own line, and the outcome of what is
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
