// What differs between two snapshots of an account: counts of all changes, and the first of them.

import * as z from "zod";
import { damageIn, isDamage, SyncError } from "../errors/sync-error.ts";
import { checkTimeLeft } from "../run/collect/time-budget.ts";
import { heldSnapshots, keptSnapshot, NEWEST_HELD } from "../run/publish/held-snapshots.ts";
import type { RunPorts } from "../run/run-ports.ts";
import type { Manifest } from "../snapshot/files/manifest.ts";
import { verifySnapshot } from "../snapshot/files/verify-snapshot.ts";
import { type Change, compareSnapshots } from "../snapshot/rows/compare-snapshots.ts";
import { readHead } from "../storage/publication-log.ts";
import type { AccountStore } from "../storage/store.ts";

export type DiffPorts = Pick<RunPorts, "store" | "signal" | "timeLeftMs" | "reserveMs">;

export interface DiffTask {
  /** The id of a snapshot, or `NEWEST_HELD`. */
  readonly a: string;
  /** The same; undefined for the one that readers see. */
  readonly b: string | undefined;
}

interface Diff {
  readonly a: string;
  /** Null where nothing is published: then every event of `a` is `added`. */
  readonly b: string | null;
}

/**
 * Gives each change to `onChange`, by uuid: `added` is in `a` and not in `b`. Reads only, in memory that does not grow
 * with the snapshots. Throws `SNAPSHOT_NOT_FOUND`, `STORE_CORRUPT` naming the damaged file, `INTERRUPTED` where time runs
 * out; damage may show only at the end, so use nothing made of the changes before this returns.
 */
export async function diff(
  ports: DiffPorts,
  { a, b }: DiffTask,
  onChange: (change: Change) => void,
): Promise<Diff> {
  const { store } = ports;
  const snapshotOf = async (named: string): Promise<Manifest> =>
    keptSnapshot(store, named === NEWEST_HELD ? await newestHeld(store) : named);
  const after = await snapshotOf(a);
  const other = b ?? (await readHead(store))?.snapshot_id;
  const before = other === undefined ? undefined : await snapshotOf(other);
  const proceed = (): void => checkTimeLeft(ports, outOfTime);
  try {
    for await (const change of compareSnapshots(store, before, after, proceed)) onChange(change);
  } catch (error) {
    throw isDamage(error) ? await locatedDamage(error, store, [after, before], proceed) : error;
  }
  return { a: after.snapshot_id, b: before?.snapshot_id ?? null };
}

/** The id of the newest held snapshot. Throws `SNAPSHOT_NOT_FOUND`. */
async function newestHeld(store: AccountStore): Promise<string> {
  const newest = (await heldSnapshots(store)).at(-1);
  if (newest) return newest.snapshotId;
  throw new SyncError(
    "SNAPSHOT_NOT_FOUND",
    `No snapshot of the account ${store.account} is held. Name a snapshot by its id; status lists the ids.`,
  );
}

/** A damaged part may show in its rows before it shows in its checksum, and a row does not know its file. */
async function locatedDamage(
  error: SyncError,
  store: AccountStore,
  manifests: readonly (Manifest | undefined)[],
  proceed: () => void,
): Promise<SyncError> {
  for (const manifest of manifests) {
    const found = manifest && verifySnapshot(store, manifest.snapshot_id, proceed);
    const damage = found && (await damageIn(found));
    if (damage) return damage;
  }
  return error;
}

function outOfTime(): string {
  return "The snapshots have too many events to compare them within the time limit. Use diff on the command line, which has no time limit.";
}

/** All changes counted, and the first of them in order: in which fields an event differs, not what they hold. */
interface ChangedRow extends Pick<Change, "uuid" | "change"> {
  /** JSON Pointers; null unless `changed`. */
  readonly fields: readonly string[] | null;
}

/** Of all rows together, in UTF-16 code units: the pointers of one row may have 64 KB. */
const MAX_TEXT = 32 * 1024 * 1024;

const pointers = z.array(z.string());

export class FirstChanges {
  readonly #most: number;
  readonly counts = { added: 0, changed: 0, removed: 0 };
  readonly #rows: ChangedRow[] = [];
  #text = 0;

  /** @param most how many rows are kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** Fewer than there is room for where their pointers are long. */
  get rows(): readonly ChangedRow[] {
    return this.#rows;
  }

  add(change: Change): void {
    this.counts[change.change] += 1;
    if (this.#rows.length >= this.#most || this.#text >= MAX_TEXT) return;
    const { uuid, change: kind, fields } = change;
    this.#text += uuid.length + (fields?.length ?? 0);
    this.#rows.push({
      uuid,
      change: kind,
      fields: fields === null ? null : pointers.parse(JSON.parse(fields)),
    });
  }
}
