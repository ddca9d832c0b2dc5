// What a publication is compared with: the head, or, over a damaged head, the newest publication that is whole.

import { isDamage } from "../../errors/is-damage.ts";
import type { SyncError } from "../../errors/sync-error.ts";
import { verifySnapshot } from "../../snapshot/files/verify-snapshot.ts";
import { newestFirst, type Publication } from "../../storage/publication-log.ts";
import { listSnapshots } from "../../storage/snapshot-marks.ts";
import type { Store } from "../../storage/store.ts";
import type { RunPorts } from "../run-ports.ts";

/** The snapshot to compare with, by the head of this moment; null for none, and then every event is `added`. */
export type BaseOf = (head: Publication | undefined) => Promise<string | null>;

/** Without `--over-damaged`: damage of the head is found when the head is read, and ends the run. */
export const headAsBase: BaseOf = async (head) => head?.snapshot_id ?? null;

/**
 * Verifies a snapshot before it is the base. Snapshots never change, so each is verified once, however often the base is
 * needed. A retired one is no base: its files will be deleted, and readers that restart from it would find nothing.
 */
export function wholeBase(
  { store, signal, logger }: Pick<RunPorts, "store" | "signal" | "logger">,
  account: string,
): BaseOf {
  const verified = new Map<string, Promise<SyncError | undefined>>();
  const damageOf = (snapshotId: string): Promise<SyncError | undefined> => {
    const damage = verified.get(snapshotId) ?? findDamage(store, account, snapshotId, signal);
    verified.set(snapshotId, damage);
    return damage;
  };
  let reported: string | undefined;
  return async (head) => {
    if (head === undefined) return null;
    const damage = await damageOf(head.snapshot_id);
    if (damage === undefined) return head.snapshot_id;
    const base = await newestWhole(store, account, async (id) => (await damageOf(id)) === undefined);
    if (reported !== head.snapshot_id)
      logger.warn(
        `the snapshot ${head.snapshot_id}, which readers see, is damaged (${damage.fields["key"]}); the changes are those against ${base ?? "nothing: every event is added"}`,
      );
    reported = head.snapshot_id;
    return base;
  };
}

async function newestWhole(
  store: Store,
  account: string,
  isWhole: (snapshotId: string) => Promise<boolean>,
): Promise<string | null> {
  const snapshots = await listSnapshots(store, account);
  const kept = new Set(snapshots.filter(({ isRetired }) => !isRetired).map(({ snapshotId }) => snapshotId));
  for await (const { snapshot_id: snapshotId } of newestFirst(store, account)) {
    if (kept.has(snapshotId) && (await isWhole(snapshotId))) return snapshotId;
  }
  return null;
}

async function findDamage(
  store: Store,
  account: string,
  snapshotId: string,
  signal: AbortSignal,
): Promise<SyncError | undefined> {
  try {
    await verifySnapshot(store, account, snapshotId, () => signal.throwIfAborted());
    return undefined;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return error;
  }
}
