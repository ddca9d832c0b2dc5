// Whether what is published is there as it was published: the checksums of the head and the files of all else, or the
// checksums of everything that is kept.

import { isDamage } from "../errors/is-damage.ts";
import { SyncError } from "../errors/sync-error.ts";
import { verifyDigests } from "../snapshot/compare/digests.ts";
import { addDamagedHeadRemedy } from "../snapshot/files/add-damaged-head-remedy.ts";
import { checkForeign, checkNames } from "../snapshot/files/check-listed.ts";
import { verifyLeftOut } from "../snapshot/files/left-out.ts";
import { incompleteUnits, lostChanges, type Unit } from "../snapshot/files/units.ts";
import { verifyChanges } from "../snapshot/files/verify-changes.ts";
import { verifySnapshot } from "../snapshot/files/verify-snapshot.ts";
import { type LogSince, readLog, readLogSince } from "../storage/publication-log.ts";
import { listSnapshots } from "../storage/snapshot-marks.ts";
import type { Store } from "../storage/store.ts";
import type { RunPorts } from "./run-ports.ts";

export type SnapshotCheckPorts = Pick<RunPorts, "store" | "signal" | "timeLeftMs">;

/** Time for what follows the verification. */
const RESERVE_MS = 30_000;
/** How many files one message names. */
const MAX_NAMED = 10;

interface Damage extends Partial<Pick<Unit, "holds">> {
  readonly error: SyncError;
  /** The snapshot, or that of the publication whose changes are damaged; none where no retirement is needed. */
  readonly of?: string;
}

/**
 * The head byte by byte, and whether every other snapshot that is published and not retired, and the changes of every
 * publication, have their files. Throws `STORE_CORRUPT` naming all that is damaged, `INTERRUPTED` where time runs out.
 */
export async function checkHead(ports: SnapshotCheckPorts, account: string): Promise<void> {
  const { store } = ports;
  const log = await readLog(store, account);
  const head = log.at(-1)?.snapshot_id;
  if (head === undefined) return;
  const found = await damageOfSnapshot(ports, account, head);
  const units = await incompleteUnits(store, account, log, await listSnapshots(store, account));
  for (const { holds, publication, damage: error } of units) {
    if (holds === "changes" || publication.snapshot_id !== head)
      found.push({ error, holds, of: publication.snapshot_id });
  }
  found.push(...(await foreignNames(store, account)));
  throwIfAny(found, account, head);
}

/** Every snapshot that is published or held and not retired, and the changes of every publication, byte by byte. */
export async function checkEverything(ports: SnapshotCheckPorts, account: string): Promise<void> {
  const { store } = ports;
  const since = await readLogSince(store, account, "");
  const log = since.publications;
  const found: Damage[] = [];
  for (const snapshotId of await keptSnapshots(ports, account, since))
    found.push(...(await damageOfSnapshot(ports, account, snapshotId)));
  const lost = await lostChanges(store, account);
  for (const publication of log.filter((each) => !lost.has(each.publication))) {
    const error = await damageIn(verifyChanges(store, account, publication, () => proceed(ports)));
    if (error) found.push({ error, holds: "changes", of: publication.snapshot_id });
  }
  found.push(...(await foreignNames(store, account)));
  throwIfAny(found, account, log.at(-1)?.snapshot_id);
}

async function foreignNames(store: Store, account: string): Promise<Damage[]> {
  const error = await damageIn(checkNames(store, account));
  return error ? [{ error }] : [];
}

async function damageOfSnapshot(
  ports: SnapshotCheckPorts,
  account: string,
  snapshotId: string,
): Promise<Damage[]> {
  const { store } = ports;
  try {
    const manifest = await verifySnapshot(store, account, snapshotId, () => proceed(ports));
    const digests = await damageIn(verifyDigests(store, manifest));
    const leftOut = await damageIn(verifyLeftOut(store, manifest));
    const foreign = await damageIn(checkForeign(store, manifest));
    return [
      ...(digests ? [{ error: digests }] : []),
      ...(leftOut ? [{ error: leftOut, of: snapshotId }] : []),
      ...(foreign ? [{ error: foreign }] : []),
    ];
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [{ error, holds: "snapshot", of: snapshotId }];
  }
}

async function damageIn(work: Promise<void>): Promise<SyncError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return error;
  }
}

async function keptSnapshots(
  { store }: SnapshotCheckPorts,
  account: string,
  { publications, removal }: LogSince,
): Promise<readonly string[]> {
  const kept = new Set(publications.map(({ snapshot_id }) => snapshot_id));
  const head = publications.at(-1)?.snapshot_id;
  for (const { snapshotId, isHeld, isRetired } of await listSnapshots(store, account)) {
    if (isHeld && snapshotId > (removal?.run_id ?? "")) kept.add(snapshotId);
    if (isRetired && snapshotId !== head) kept.delete(snapshotId);
  }
  return [...kept].sort();
}

function proceed({ signal, timeLeftMs }: SnapshotCheckPorts): void {
  signal.throwIfAborted();
  if ((timeLeftMs?.() ?? RESERVE_MS) >= RESERVE_MS) return;
  throw new SyncError(
    "INTERRUPTED",
    "The snapshot has too many bytes to verify them within the time limit. What was read is undamaged. To verify all of it, use check on the command line, which has no time limit.",
  );
}

function throwIfAny(found: readonly Damage[], account: string, head: string | undefined): void {
  const [first, ...others] = found;
  if (first === undefined) return;
  const { code, message, fields } = others.length === 0 ? first.error : severalDamaged(found);
  const ids = new Set(found.flatMap(({ of }) => of ?? []));
  const old = [...ids].filter((snapshotId) => snapshotId !== head).slice(0, MAX_NAMED);
  const remedies = [
    ...(found.some(({ holds }) => holds === "changes") ? [MADE_AGAIN] : []),
    ...(old.length > 0 ? [retireRemedy(account, old)] : []),
  ];
  const error = new SyncError(code, [message, ...remedies].join(" "), { fields });
  const isHeadDamaged = found.some(({ holds, of }) => holds === "snapshot" && of === head);
  throw isHeadDamaged ? addDamagedHeadRemedy(error, account) : error;
}

const MADE_AGAIN =
  "The next run makes missing changes again, if both of their snapshots are whole; delete changes that are damaged.";

/** Names no whole command, as the remedy for a damaged head. */
function retireRemedy(account: string, snapshotIds: readonly string[]): string {
  const [first] = snapshotIds;
  const commands = snapshotIds.map((snapshotId) => `retire ${snapshotId} --yes`).join(", ");
  return `Without a backup, take what is damaged out of the tables: ${commands} (in AWS {"action": "retire", "account": "${account}", "snapshotId": "${first}", "yes": true}).`;
}

function severalDamaged(found: readonly Damage[]): SyncError {
  const keys = found.map(({ error }) => String(error.fields["key"]));
  const named = keys.slice(0, MAX_NAMED).join(", ");
  const more = keys.length > MAX_NAMED ? `, and ${keys.length - MAX_NAMED} more` : "";
  return new SyncError(
    "STORE_CORRUPT",
    `${keys.length} files are damaged: ${named}${more}. Restore them from a backup or from older versions of them.`,
    { fields: { keys: keys.join(",") } },
  );
}
