// Whether what readers see is what was published: the checksums of the head, or of everything that is kept.

import { isDamage } from "../errors/is-damage.ts";
import { SyncError } from "../errors/sync-error.ts";
import { verifyDigests } from "../snapshot/compare/digests.ts";
import { addDamagedHeadRemedy } from "../snapshot/files/add-damaged-head-remedy.ts";
import { checkForeign } from "../snapshot/files/check-listed.ts";
import { verifyLeftOut } from "../snapshot/files/left-out.ts";
import type { Manifest } from "../snapshot/files/manifest.ts";
import { verifyChanges } from "../snapshot/files/verify-changes.ts";
import { verifySnapshot } from "../snapshot/files/verify-snapshot.ts";
import { type Publication, readHead, readLog } from "../storage/publication-log.ts";
import { listSnapshots } from "../storage/snapshot-marks.ts";
import type { RunPorts } from "./run-ports.ts";

export type SnapshotCheckPorts = Pick<RunPorts, "store" | "signal" | "timeLeftMs">;

/** Time for what follows the verification. */
const RESERVE_MS = 30_000;
/** How many files one message names. */
const MAX_NAMED = 10;

/** The head, if there is one. Throws `STORE_CORRUPT` naming the damaged file, `INTERRUPTED` where time runs out. */
export async function checkHead(ports: SnapshotCheckPorts, account: string): Promise<void> {
  const head = await readHead(ports.store, account);
  if (head === undefined) return;
  const manifest = await verify(ports, account, head.snapshot_id).catch((error: unknown) => {
    throw addDamagedHeadRemedy(error, account);
  });
  await verifyDigests(ports.store, manifest);
  await verifyLeftOut(ports.store, manifest);
  await checkForeign(ports.store, manifest);
}

/**
 * Every snapshot that is published or held and not retired, and the changes of every publication. Throws as
 * `checkHead` does, naming all that is damaged.
 */
export async function checkEverything(ports: SnapshotCheckPorts, account: string): Promise<void> {
  const { store } = ports;
  const log = await readLog(store, account);
  const head = log.at(-1);
  const errors: SyncError[] = [];
  const collect = async <T>(work: Promise<T>): Promise<T | undefined> => {
    try {
      return await work;
    } catch (error) {
      if (!isDamage(error)) throw error;
      errors.push(error);
      return undefined;
    }
  };
  let isHeadWhole = true;
  for (const snapshotId of await keptSnapshots(ports, account, log)) {
    const manifest = await collect(verify(ports, account, snapshotId));
    if (manifest) {
      await collect(verifyDigests(ports.store, manifest));
      await collect(verifyLeftOut(ports.store, manifest));
      await collect(checkForeign(ports.store, manifest));
    } else if (snapshotId === head?.snapshot_id) isHeadWhole = false;
  }
  for (const publication of log) {
    await collect(verifyChanges(store, account, publication, () => proceed(ports)));
  }
  const [first, ...others] = errors;
  if (first === undefined) return;
  const error = others.length === 0 ? first : severalDamaged(errors);
  throw isHeadWhole ? error : addDamagedHeadRemedy(error, account);
}

async function keptSnapshots(
  { store }: SnapshotCheckPorts,
  account: string,
  log: readonly Publication[],
): Promise<readonly string[]> {
  const kept = new Set(log.map(({ snapshot_id }) => snapshot_id));
  const head = log.at(-1)?.snapshot_id;
  for (const { snapshotId, isHeld, isRetired } of await listSnapshots(store, account)) {
    if (isHeld) kept.add(snapshotId);
    if (isRetired && snapshotId !== head) kept.delete(snapshotId);
  }
  return [...kept].sort();
}

function verify(ports: SnapshotCheckPorts, account: string, snapshotId: string): Promise<Manifest> {
  return verifySnapshot(ports.store, account, snapshotId, () => proceed(ports));
}

function proceed({ signal, timeLeftMs }: SnapshotCheckPorts): void {
  signal.throwIfAborted();
  if ((timeLeftMs?.() ?? RESERVE_MS) >= RESERVE_MS) return;
  throw new SyncError(
    "INTERRUPTED",
    "The snapshot has too many bytes to verify them within the time limit. What was read is undamaged. To verify all of it, use check on the command line, which has no time limit.",
  );
}

function severalDamaged(errors: readonly SyncError[]): SyncError {
  const keys = errors.map(({ fields }) => String(fields["key"]));
  const named = keys.slice(0, MAX_NAMED).join(", ");
  const more = keys.length > MAX_NAMED ? `, and ${keys.length - MAX_NAMED} more` : "";
  return new SyncError(
    "STORE_CORRUPT",
    `${keys.length} files are damaged: ${named}${more}. Restore them from a backup or from older versions of them.`,
    { fields: { keys: keys.join(",") } },
  );
}
