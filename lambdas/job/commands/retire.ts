// `retire`: a person takes a snapshot out of the tables, because it is damaged or bad. No request, no lease.

import { SyncError } from "../errors/sync-error.ts";
import { readHold } from "../run/publish/guard.ts";
import { snapshotNotFound } from "../run/publish/held-snapshots.ts";
import type { RunPorts } from "../run/run-ports.ts";
import { runInstant } from "../storage/layout.ts";
import { readHead, readLog } from "../storage/publication-log.ts";
import { dateRetired, markRetired, readRetired } from "../storage/snapshot-marks.ts";
import type { AccountStore } from "../storage/store.ts";

type RetirePorts = Pick<RunPorts, "store" | "catalog" | "clock" | "logger">;

export interface Retired {
  /** False where it was not confirmed. */
  readonly ok: boolean;
  readonly explanation: string;
}

/**
 * As retention does it: its files are deleted by a run at least a day later. Without `yes` nothing is changed. Throws
 * `SNAPSHOT_NOT_FOUND`, and `CONFIG_INVALID` for the head.
 */
export async function retire(
  ports: RetirePorts,
  { snapshotId, yes }: { readonly snapshotId: string; readonly yes: boolean },
): Promise<Retired> {
  const { store, catalog, clock, logger } = ports;
  const log = await readLog(store);
  if (!log.some(({ snapshot_id }) => snapshot_id === snapshotId)) await requireHeld(store, snapshotId);
  if (log.at(-1)?.snapshot_id === snapshotId) throw isHead(snapshotId, "Readers see the snapshot");
  if (typeof (await readRetired(store, snapshotId)) === "number")
    return { ok: true, explanation: `The snapshot ${snapshotId} is retired already.` };
  if (!yes)
    return {
      ok: false,
      explanation: `retire would take the snapshot ${snapshotId} out of the tables. A run deletes its files after a day, and nothing can be rolled back to it. What readers see stays.`,
    };

  await markRetired(store, snapshotId);
  await catalog.refresh(store.account);
  if ((await readHead(store))?.snapshot_id === snapshotId) {
    await store.delete(store.keys.retired(snapshotId));
    await catalog.refresh(store.account);
    throw isHead(snapshotId, "Meanwhile a person has published the snapshot");
  }
  await dateRetired(store, snapshotId, clock.now());
  logger.info(`retires the snapshot ${snapshotId}, as a person asked`);
  return {
    ok: true,
    explanation: `The snapshot ${snapshotId} is retired: it is in no table, and a run deletes its files after a day.`,
  };
}

/** Throws unless this snapshot, which no publication names, is held. */
async function requireHeld(store: AccountStore, snapshotId: string): Promise<void> {
  const isMarked = async (): Promise<boolean> =>
    (await readHold(store, snapshotId)) !== undefined || (await readRetired(store, snapshotId)) !== undefined;
  const isId = runInstant(snapshotId) !== undefined;
  if (isId && (await isMarked())) return;
  const isMade = isId && (await store.read(store.keys.manifest(snapshotId))) !== undefined;
  throw snapshotNotFound(
    snapshotId,
    isMade
      ? "is not finished. Start run again to finish it"
      : "does not exist. Look at status and query publications for the ids",
  );
}

function isHead(snapshotId: string, why: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `${why} ${snapshotId}, so it cannot be retired. Publish another one with run, accept or rollback, then retire this one.`,
    { fields: { snapshot_id: snapshotId } },
  );
}
