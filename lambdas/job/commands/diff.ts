// What differs between two snapshots of an account: counts of all changes, and the first of them.

import { damageIn, SyncError } from "../errors/sync-error.ts";
import { checkTimeLeft, type TimePorts } from "../run/collect/time-budget.ts";
import { heldSnapshots, keptSnapshot, NEWEST_HELD } from "../run/publish/held-snapshots.ts";
import type { WarehousePorts } from "../run/run-ports.ts";
import { type Manifest, readLeftOut, type SeenLeftOut, verifyLeftOut } from "../snapshot/files/manifest.ts";
import { compareSnapshots } from "../snapshot/rows/compare-snapshots.ts";
import type { ExplainedChange, MissingReason } from "../snapshot/rows/first-changes.ts";
import { readHead, readLog } from "../storage/publication-log.ts";
import { IDS, RETIRED, readRetired, snapshotNotFound } from "../storage/snapshot-marks.ts";
import type { AccountStore } from "../storage/store.ts";

export interface DiffTask {
  /** The id of a snapshot, or `NEWEST_HELD`. */
  readonly a: string;
  /** The same; undefined for the one that readers see, null for none: then every event of `a` is `added`. */
  readonly b: string | null | undefined;
}

interface Diff {
  readonly a: string;
  /** Null where nothing is published: then every event of `a` is `added`. */
  readonly b: string | null;
  /** How many events are `removed` for each reason that is known. */
  readonly reasons: Readonly<Partial<Record<MissingReason, number>>>;
}

/**
 * Gives each change to `onChange`, by uuid: `added` is in `a` and not in `b`. Reads only, in memory that grows only with
 * what `a` leaves out. Throws `SNAPSHOT_NOT_FOUND`, `STORE_CORRUPT` naming the damaged file, `INTERRUPTED` where time runs
 * out; damage may show only at the end, so use nothing made of the changes before this returns.
 */
export async function diff(
  ports: WarehousePorts & TimePorts,
  { a, b }: DiffTask,
  onChange: (change: ExplainedChange) => void,
): Promise<Diff> {
  const { store } = ports;
  const snapshotOf = async (named: string): Promise<Manifest> =>
    keptSnapshot(store, named === NEWEST_HELD ? await newestHeld(store) : named);
  const after = await snapshotOf(a);
  const other = b === undefined ? (await readHead(store))?.snapshot_id : b;
  const before = other === undefined || other === null ? undefined : await snapshotOf(other);
  const proceed = (): void => checkTimeLeft(ports, outOfTime);
  const leftOut = await reasonsOf(store, after);
  const reasons: Partial<Record<MissingReason, number>> = {};
  for await (const change of compareSnapshots(store, before, after, proceed)) {
    const isMissing = leftOut !== undefined && change.change === "removed";
    const reason = isMissing ? (leftOut.get(change.uuid) ?? "not_listed") : null;
    if (reason) reasons[reason] = (reasons[reason] ?? 0) + 1;
    onChange({ ...change, reason });
  }
  return { a: after.snapshot_id, b: before?.snapshot_id ?? null, reasons };
}

/**
 * What readers see now, against what they saw at `atMs` by the log: the last publication, in its order, whose
 * `published_at` is not later. Throws `SNAPSHOT_NOT_FOUND` where nothing is published, and where that one is retired.
 */
export async function sinceTask(store: AccountStore, atMs: number): Promise<DiffTask> {
  const log = await readLog(store);
  const head = log.at(-1);
  if (head === undefined)
    throw new SyncError("SNAPSHOT_NOT_FOUND", `Nothing of the account ${store.account} is published.`);
  const place = log.findLastIndex(({ published_at }) => Date.parse(published_at) <= atMs);
  const then = log[place];
  if (then === undefined) return { a: head.snapshot_id, b: null };
  for (const later of log.slice(place)) {
    if (later !== head && (await readRetired(store, later.snapshot_id)) !== undefined) continue;
    if (later.snapshot_id === then.snapshot_id) break;
    throw snapshotNotFound(
      then.snapshot_id,
      RETIRED,
      `The next one that is kept was published at ${later.published_at}: ask since that instant or a later one. event_changes has all changes.`,
    );
  }
  return { a: head.snapshot_id, b: then.snapshot_id };
}

/** Why events are missing, by uuid; undefined where the file is damaged, which `check` names. */
async function reasonsOf(
  store: AccountStore,
  manifest: Manifest,
): Promise<ReadonlyMap<string, SeenLeftOut["reason"]> | undefined> {
  if (await damageIn(verifyLeftOut(store, manifest))) return undefined;
  const leftOut = await readLeftOut(store, store.keys.leftOut(manifest.snapshot_id));
  return new Map(leftOut.map(({ uuid, reason }) => [uuid, reason]));
}

/** The id of the newest held snapshot. Throws `SNAPSHOT_NOT_FOUND`. */
async function newestHeld(store: AccountStore): Promise<string> {
  const newest = (await heldSnapshots(store)).at(-1);
  if (newest) return newest.snapshotId;
  throw new SyncError("SNAPSHOT_NOT_FOUND", `No snapshot of the account ${store.account} is held.`, {
    next: `Name a snapshot by its id. ${IDS}`,
  });
}

function outOfTime(): string {
  return "The snapshots have too many events to compare them within the time limit. On a computer of your own nothing limits the time.";
}
