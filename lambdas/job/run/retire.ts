// `retire`: a person takes a snapshot out of the tables, because it is damaged or bad. No request, no lease.

import { SyncError } from "../errors/sync-error.ts";
import { incompleteChanges } from "../snapshot/files/units.ts";
import { runInstant } from "../storage/layout.ts";
import { type Publication, readHead, readLog } from "../storage/publication-log.ts";
import { dateRetired, markLost, markRetired, readRetired } from "../storage/snapshot-marks.ts";
import type { AccountStore } from "../storage/store.ts";
import { snapshotNotFound } from "./compare/held-snapshots.ts";
import { readHold } from "./publish/guard.ts";
import { remakeChanges } from "./publish/mend-changes.ts";
import type { RunPorts } from "./run-ports.ts";

type RetirePorts = Pick<RunPorts, "store" | "catalog" | "clock" | "logger" | "signal">;

export interface Retired {
  /** False where it was not confirmed. */
  readonly ok: boolean;
  readonly explanation: string;
}

/**
 * As retention does it: its files are deleted by a run at least a day later. Changes of its publications that lack files
 * are made again or given up as lost. Without `yes` nothing is changed. Throws `SNAPSHOT_NOT_FOUND`, and
 * `CONFIG_INVALID` for the head.
 */
export async function retire(
  ports: RetirePorts,
  { snapshotId, yes }: { readonly snapshotId: string; readonly yes: boolean },
): Promise<Retired> {
  const { store, catalog, clock, logger } = ports;
  const log = await readLog(store);
  const own = log.filter(({ snapshot_id }) => snapshot_id === snapshotId);
  if (own.length === 0) await requireHeld(store, snapshotId);
  if (log.at(-1)?.snapshot_id === snapshotId) throw isHead(snapshotId, "Readers see the snapshot");
  const incomplete = (await incompleteChanges(store, own)).map(({ publication }) => publication);
  const isRetired = typeof (await readRetired(store, snapshotId)) === "number";
  if (isRetired && incomplete.length === 0)
    return { ok: true, explanation: `The snapshot ${snapshotId} is retired already.` };
  if (!yes) return { ok: false, explanation: plan(snapshotId, isRetired, incomplete) };

  await markRetired(store, snapshotId);
  await catalog.refresh(store.account);
  if ((await readHead(store))?.snapshot_id === snapshotId) {
    await store.delete(store.keys.retired(snapshotId));
    await catalog.refresh(store.account);
    throw isHead(snapshotId, "Meanwhile a person has published the snapshot");
  }
  const lost: Publication[] = [];
  for (const publication of incomplete) {
    if (await remakeChanges(ports, publication)) continue;
    await markLost(store, publication, clock.now());
    lost.push(publication);
  }
  if (incomplete.length > 0) await catalog.refresh(store.account);
  await dateRetired(store, snapshotId, clock.now());
  logger.info(`retires the snapshot ${snapshotId}, as a person asked`);
  return { ok: true, explanation: result(snapshotId, lost) };
}

/** Of a snapshot that no publication names. */
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

function plan(snapshotId: string, isRetired: boolean, incomplete: readonly Publication[]): string {
  const first = isRetired
    ? `The snapshot ${snapshotId} is retired already.`
    : `retire would take the snapshot ${snapshotId} out of the tables. A run deletes its files after a day, and nothing can be rolled back to it. What readers see stays.`;
  if (incomplete.length === 0) return first;
  return `${first} The changes ${of(incomplete)} are missing: retire would make them again from the snapshots, or give them up as lost where that is impossible. ${AFTER_LOSS}`;
}

function result(snapshotId: string, lost: readonly Publication[]): string {
  const first = `The snapshot ${snapshotId} is retired: it is in no table, and a run deletes its files after a day.`;
  return lost.length === 0 ? first : `${first} The changes ${of(lost)} are lost. ${AFTER_LOSS}`;
}

const AFTER_LOSS =
  "After a loss the next publication is compared with an older snapshot or with nothing, and event_history is right again from there.";

function of(publications: readonly Publication[]): string {
  const ids = publications.map(({ publication }) => publication).join(", ");
  return `of the publication${publications.length === 1 ? "" : "s"} ${ids}`;
}
