// What a publication is compared with: the head; or, over a damaged head and after changes that are lost, an older
// publication that is whole.

import { addDamagedHeadRemedy } from "../../errors/damaged.ts";
import { damageIn, isDamage, type SyncError } from "../../errors/sync-error.ts";
import { lostChanges } from "../../snapshot/files/units.ts";
import { verifySnapshot } from "../../snapshot/files/verify-snapshot.ts";
import { type Publication, readLog } from "../../storage/publication-log.ts";
import { listSnapshots } from "../../storage/snapshot-marks.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { RunPorts } from "../run-ports.ts";

/** The snapshot to compare with, by the head of this moment; null for none, and then every event is `added`. */
export type BaseOf = (head: Publication | undefined) => Promise<string | null>;

/**
 * Verifies a snapshot that is not the head before it is the base, once, however often the base is needed: snapshots never
 * change. A retired one is no base: its files will be deleted, and readers that restart from it would find nothing.
 * @param isOverDamaged false: damage of the head is found when the head is read, and ends the run
 */
export function baseOfNext(
  { store, signal, logger }: Pick<RunPorts, "store" | "signal" | "logger">,
  isOverDamaged: boolean,
): BaseOf {
  const verified = new Map<string, Promise<SyncError | undefined>>();
  const damageOf = (snapshotId: string): Promise<SyncError | undefined> => {
    const proceed = (): void => signal.throwIfAborted();
    const damage = verified.get(snapshotId) ?? damageIn(verifySnapshot(store, snapshotId, proceed));
    verified.set(snapshotId, damage);
    return damage;
  };
  let reported: string | undefined;
  return async (head) => {
    if (head === undefined) return null;
    const damage = isOverDamaged ? await damageOf(head.snapshot_id) : undefined;
    const lost = await lostChanges(store);
    if (damage === undefined && lost.size === 0) return head.snapshot_id;
    const log = await readLog(store);
    const chain = chainTo(head, log);
    const oldestLost = chain.findLastIndex(({ publication }) => lost.has(publication));
    if (damage === undefined && oldestLost === -1) return head.snapshot_id;
    const named = newestOfEach(log);
    const below = chain.slice(oldestLost + 1).filter((each) => named.has(each));
    const base = await newestWhole(store, below, damageOf);
    const why = damage
      ? `the snapshot ${head.snapshot_id}, which readers see, is damaged (${damage.fields["key"]})`
      : `the changes of the publication ${chain[oldestLost]?.publication} are lost`;
    if (reported !== head.snapshot_id)
      logger.warn(`${why}; the changes are those against ${base ?? "nothing: every event is added"}`);
    reported = head.snapshot_id;
    return base;
  };
}

/**
 * The publications whose changes give the events of the head, newest first: each is followed by the one that its changes
 * are found against. A snapshot of any other is no base, although it may have been restored: it was published over as
 * damaged, and a reader that applies the changes has undone it.
 */
function chainTo(head: Publication, log: readonly Publication[]): readonly Publication[] {
  const chain: Publication[] = [];
  let next: string | null = head.snapshot_id;
  for (const each of log.toReversed()) {
    if (each.snapshot_id !== next) continue;
    chain.push(each);
    next = each.base_snapshot_id;
  }
  return chain;
}

/** The publications that the id of their snapshot names: an earlier one of the same snapshot cannot be the base. */
function newestOfEach(log: readonly Publication[]): ReadonlySet<Publication> {
  return new Set(new Map(log.map((each) => [each.snapshot_id, each])).values());
}

async function newestWhole(
  store: AccountStore,
  chain: readonly Publication[],
  damageOf: (snapshotId: string) => Promise<SyncError | undefined>,
): Promise<string | null> {
  const snapshots = await listSnapshots(store);
  const kept = new Set(snapshots.filter(({ isRetired }) => !isRetired).map(({ snapshotId }) => snapshotId));
  for (const { snapshot_id: snapshotId } of chain) {
    if (kept.has(snapshotId) && (await damageOf(snapshotId)) === undefined) return snapshotId;
  }
  return null;
}

/**
 * The cause of a comparison's error. A damaged part shows in its rows before it shows in its checksum, and a row does not
 * know its file; so both snapshots are verified, the base first.
 */
export async function explainDamage(
  error: unknown,
  { store, signal }: Pick<RunPorts, "store" | "signal">,
  { base, snapshotId }: { readonly base: string | null; readonly snapshotId?: string },
): Promise<unknown> {
  if (!isDamage(error)) return error;
  const damageOf = async (id: string): Promise<SyncError | undefined> =>
    damageIn(verifySnapshot(store, id, () => signal.throwIfAborted()));
  const ofBase = base === null ? undefined : await damageOf(base);
  if (ofBase) return addDamagedHeadRemedy(ofBase, store.account);
  const ofSnapshot = snapshotId === undefined ? undefined : await damageOf(snapshotId);
  return ofSnapshot ?? error;
}
