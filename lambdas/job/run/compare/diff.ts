// What differs between two snapshots of an account: counts of all changes, and the first of them.

import { isDamage } from "../../errors/is-damage.ts";
import { SyncError } from "../../errors/sync-error.ts";
import { compareSnapshots } from "../../snapshot/compare/compare-snapshots.ts";
import type { Manifest } from "../../snapshot/files/manifest.ts";
import { verifySnapshot } from "../../snapshot/files/verify-snapshot.ts";
import type { Change } from "../../snapshot/rows/diff-rows.ts";
import { readHead } from "../../storage/publication-log.ts";
import type { RunPorts } from "../run-ports.ts";
import { keptSnapshot, newestHeld } from "./kept-snapshot.ts";

/** The word for the newest held snapshot. */
const NEWEST_HELD = "held";

export type DiffPorts = Pick<RunPorts, "store" | "signal" | "timeLeftMs">;

export interface DiffTask {
  /** The id of a snapshot, or `NEWEST_HELD`. */
  readonly a: string;
  /** The same; undefined for the one that readers see. */
  readonly b: string | undefined;
}

export interface Diff {
  readonly a: string;
  /** Null where nothing is published: then every event of `a` is `added`. */
  readonly b: string | null;
}

/** Time for what follows the comparison. */
const RESERVE_MS = 30_000;

/**
 * Gives each change to `onChange`, by uuid: `added` is in `a` and not in `b`. Reads only, in memory that does not grow
 * with the snapshots. Throws `SNAPSHOT_NOT_FOUND`, `STORE_CORRUPT` naming the damaged file, `INTERRUPTED` where time runs
 * out; damage may show only at the end, so use nothing made of the changes before this returns.
 */
export async function diff(
  ports: DiffPorts,
  account: string,
  { a, b }: DiffTask,
  onChange: (change: Change) => void,
): Promise<Diff> {
  const { store } = ports;
  const snapshotOf = async (named: string): Promise<Manifest> =>
    keptSnapshot(store, account, named === NEWEST_HELD ? await newestHeld(store, account) : named);
  const after = await snapshotOf(a);
  const other = b ?? (await readHead(store, account))?.snapshot_id;
  const before = other === undefined ? undefined : await snapshotOf(other);
  const proceed = (): void => checkTime(ports);
  try {
    for await (const change of compareSnapshots(store, before, after, proceed)) onChange(change);
  } catch (error) {
    throw isDamage(error) ? await locatedDamage(error, ports, [after, before]) : error;
  }
  return { a: after.snapshot_id, b: before?.snapshot_id ?? null };
}

/** A damaged part may show in its rows before it shows in its checksum, and a row does not know its file. */
async function locatedDamage(
  error: SyncError,
  ports: DiffPorts,
  manifests: readonly (Manifest | undefined)[],
): Promise<SyncError> {
  for (const manifest of manifests) {
    if (manifest === undefined) continue;
    try {
      await verifySnapshot(ports.store, manifest.account, manifest.snapshot_id, () => checkTime(ports));
    } catch (found) {
      if (isDamage(found)) return found;
      throw found;
    }
  }
  return error;
}

function checkTime({ signal, timeLeftMs }: DiffPorts): void {
  signal.throwIfAborted();
  if ((timeLeftMs?.() ?? RESERVE_MS) >= RESERVE_MS) return;
  throw new SyncError(
    "INTERRUPTED",
    "The snapshots have too many events to compare them within the time limit. Use diff on the command line, which has no time limit.",
  );
}
