// What a person decides, without a request or a lease: `accept` and `rollback` publish a snapshot that is already there,
// `retire` takes one out of the tables, and `remove` takes a whole account.

import { advise, command } from "../errors/advice.ts";
import { SyncError, undefinedIfDamaged } from "../errors/sync-error.ts";
import { whileLeased } from "../run/lease/lease-account.ts";
import { commit, removedMeanwhile, takeBack } from "../run/publish/commit.ts";
import {
  type HeldSnapshot,
  heldSnapshots,
  keptSnapshot,
  NEWEST_HELD,
} from "../run/publish/held-snapshots.ts";
import { isLater } from "../run/publish/superseded.ts";
import {
  type Attempt,
  beginAttempt,
  countsOf,
  NO_COUNTS,
  recordAttempt,
  unrecordedFailure,
} from "../run/record/attempt.ts";
import { readHold } from "../run/record/held-mark.ts";
import { publishedEnd, recordUnrecorded } from "../run/record/published-run.ts";
import { isRun } from "../run/record/run-log.ts";
import { publicationOf, type RunEnd, type RunResult, type Skipped } from "../run/record/run-result.ts";
import type { HostPorts, WarehousePorts, WorldPorts } from "../run/run-ports.ts";
import type { Manifest } from "../snapshot/files/manifest.ts";
import { plannedAt, publishedOf } from "../snapshot/files/published-snapshots.ts";
import { batches } from "../storage/batches.ts";
import { keysOf } from "../storage/known-accounts.ts";
import { formatRunId } from "../storage/layout.ts";
import { placeOf, removalOf } from "../storage/log-mark.ts";
import { isRestart, type Publication } from "../storage/publication.ts";
import {
  createRemoval,
  publicationBefore,
  readEnd,
  readHead,
  readLog,
  readLogSince,
} from "../storage/publication-log.ts";
import {
  dateRetired,
  IDS,
  listSnapshots,
  markRetired,
  readRetired,
  snapshotNotFound,
} from "../storage/snapshot-marks.ts";
import type { AccountStore } from "../storage/store.ts";

export type AcceptOrRollback = {
  /** The id of a snapshot; for `accept` also `NEWEST_HELD`. */
  readonly snapshotId: string;
  /** A restart: publishes although files that readers see are damaged, and every event is `added`. */
  readonly overDamaged?: boolean | undefined;
} & (
  | {
      readonly action: "accept";
      /** Takes a snapshot older than the head, too. */
      readonly force: boolean;
    }
  | {
      readonly action: "rollback";
      /** Later runs are held until an `accept`. */
      readonly pin: boolean;
    }
);

type DecisionPorts = WorldPorts & WarehousePorts & HostPorts;

/**
 * Publishes the snapshot against the present head, or says why not. Returns the attempt's row for every outcome; where
 * there is no such snapshot nothing was attempted, and the row is not in the run log.
 */
export async function acceptOrRollback(ports: DecisionPorts, request: AcceptOrRollback): Promise<RunResult> {
  const attempt = beginAttempt(ports.clock, request.action);
  const end = await publishAgain(ports, request, attempt).catch((error: unknown) => ({ error }));
  if ("error" in end && isNotFound(end.error) && attempt.counts === NO_COUNTS)
    return unrecordedFailure(ports, attempt, end.error);
  return recordAttempt(ports, attempt, end);
}

async function publishAgain(
  ports: DecisionPorts,
  asked: AcceptOrRollback,
  attempt: Attempt,
): Promise<RunEnd> {
  const { store, catalog } = ports;
  const first = await readEnd(store);
  const standing = first.head;
  await catalog.refresh(store.account, "new");
  // A run may be about to record its own.
  if (standing && standing.action !== "run") await recordUnrecorded(ports, standing);
  const isNewest = asked.action === "accept" && asked.snapshotId === NEWEST_HELD;
  const request = isNewest
    ? { ...asked, snapshotId: await onlyHeld(store, { head: standing, nowMs: ports.clock.now() }) }
    : asked;
  const { action, snapshotId } = request;
  attempt.snapshotId = snapshotId;
  const manifest = await requirePublishable(store, request);
  attempt.counts = countsOf(manifest);
  attempt.doubt = manifest.doubt;
  const place = await placeOf(store, manifest.log_end);
  const pinned = request.action === "rollback" && request.pin;
  const decide = async (head: Publication | undefined) => {
    const isOlder =
      head !== undefined && head.snapshot_id !== snapshotId && isLater(head, { id: snapshotId, place });
    return request.action === "accept" && isOlder && !request.force ? { newer: head } : undefined;
  };
  const published = await commit(
    ports,
    manifest,
    { action, run_id: attempt.runId, pinned },
    first,
    decide,
    request.overDamaged === true,
  ).catch(async (error: unknown) => {
    const isRemoved = await takeBack(ports, { last: first.last, id: snapshotId }).catch(() => undefined);
    throw isRemoved ? removedMeanwhile(store.account, snapshotId) : error;
  });
  if ("newer" in published) return olderThan(published.newer, snapshotId);
  attempt.publication = published.publication;
  attempt.counts = countsOf(manifest, published);
  await catalog.refresh(store.account, "new");
  return publishedEnd(store, published);
}

/** What restores what readers saw before. */
export interface Undo {
  readonly snapshotId: string;
  /** Whether later runs were held then. */
  readonly pin: boolean;
}

/**
 * The rollback that undoes an accept or a rollback; undefined where nothing was published, where readers saw nothing
 * before, or the same, and where that is damaged.
 */
export async function undoOf(store: AccountStore, { row }: RunResult): Promise<Undo | undefined> {
  if (isRun(row.trigger)) return undefined;
  // What was decided stands, also where this cannot be read.
  const published = await publicationOf(store, row).catch(() => undefined);
  if (published === undefined) return undefined;
  const before = await publicationBefore(store, published.publication).catch(() => undefined);
  if (before === undefined || isRestart(published, before)) return undefined;
  const { snapshot_id: snapshotId, pinned } = before;
  if (snapshotId === published.snapshot_id && pinned === published.pinned) return undefined;
  return { snapshotId, pin: pinned };
}

function isNotFound(error: unknown): error is SyncError {
  return error instanceof SyncError && error.code === "SNAPSHOT_NOT_FOUND";
}

/** The id of the only held snapshot that is later than the head. Throws `SNAPSHOT_NOT_FOUND` with those that are held. */
async function onlyHeld(
  store: AccountStore,
  { head, nowMs }: { readonly head: Publication | undefined; readonly nowMs: number },
): Promise<string> {
  const [newest, ...others] = (await heldSnapshots(store, { head, nowMs })).toReversed();
  if (newest !== undefined && others.length === 0) return newest.snapshotId;
  const of = `of the account ${store.account}`;
  const named = (found: readonly HeldSnapshot[]): string =>
    found.map(({ snapshotId }) => snapshotId).join(", ");
  if (newest !== undefined)
    throw new SyncError(
      "SNAPSHOT_NOT_FOUND",
      `Several snapshots ${of} are held, the newest first: ${named([newest, ...others])}.`,
      { next: "Name one by its id." },
    );
  const older = (await heldSnapshots(store)).toReversed();
  const [last] = older;
  if (last === undefined) throw new SyncError("SNAPSHOT_NOT_FOUND", `No snapshot ${of} is held.`);
  const accept = command("accept", { snapshotId: last.snapshotId, decision: "force" });
  throw new SyncError(
    "SNAPSHOT_NOT_FOUND",
    `The held snapshots ${of} are older than what readers see: ${named(older)}.`,
    { next: advise`Name one by its id: ${accept}.` },
  );
}

/** The manifest of a snapshot that this action can publish. Throws `SNAPSHOT_NOT_FOUND` for any other, with the remedy. */
async function requirePublishable(
  store: AccountStore,
  { action, snapshotId }: AcceptOrRollback,
): Promise<Manifest> {
  // Before its files are looked at: a removal that works, or was stopped, has not deleted all of them yet.
  if (await removalOf(store, snapshotId, await plannedAt(store, snapshotId)))
    throw snapshotNotFound(
      snapshotId,
      "was removed with its account",
      "If files of it are left, remove the account again.",
    );
  const manifest = await keptSnapshot(store, snapshotId);
  const isHeld = (await readHold(store, snapshotId)) !== undefined;
  if (isHeld && action === "accept") return manifest;
  if ((await publishedOf(store, [snapshotId])).has(snapshotId)) return manifest;
  if (!isHeld) throw snapshotNotFound(snapshotId, "is not finished", "Start a run to finish it.");
  throw snapshotNotFound(
    snapshotId,
    "is held and was never published",
    advise`Publish it: ${command("accept", { snapshotId })}.`,
  );
}

function olderThan(head: Publication, snapshotId: string): RunEnd {
  return {
    outcome: "SUPERSEDED",
    reason: "LATER_HEAD",
    explanation: `Readers already see ${head.snapshot_id}, which is later than ${snapshotId}.`,
    next: advise`To publish the older one anyway: ${command("accept", { snapshotId, decision: "force" })}, or ${command("rollback", { snapshotId })}, which also keeps later runs from replacing it.`,
  };
}

export interface Retired {
  /** False where it was not confirmed. */
  readonly ok: boolean;
  readonly explanation: string;
}

/**
 * Takes a snapshot out of the tables, because it is damaged or bad, as retention does it: its files are deleted by a run
 * at least a day later. Without `yes` nothing is changed. Throws `SNAPSHOT_NOT_FOUND`, and `CONFIG_INVALID` for the head.
 */
export async function retire(
  ports: WorldPorts & WarehousePorts,
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
      explanation: `That would take the snapshot ${snapshotId} out of the tables. A run deletes its files after a day, and nothing can be rolled back to it. What readers see stays.`,
    };

  await markRetired(store, snapshotId);
  await catalog.refresh(store.account);
  if ((await readHead(store))?.snapshot_id === snapshotId) {
    await store.delete([store.keys.retired(snapshotId)]);
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
  const found = (await listSnapshots(store)).find((each) => each.snapshotId === snapshotId);
  if (found?.isHeld || found?.isRetired) return;
  throw found
    ? snapshotNotFound(snapshotId, "is not finished", "Start a run to finish it.")
    : snapshotNotFound(snapshotId, "does not exist", IDS);
}

function isHead(snapshotId: string, why: string): SyncError {
  return new SyncError("CONFIG_INVALID", `${why} ${snapshotId}, so it cannot be retired.`, {
    fields: { snapshot_id: snapshotId },
    next: "Publish another one, then retire this one.",
  });
}

/** So many files are deleted before the lease, and Ctrl-C, are looked at again. */
const AT_ONCE = 1_000;

/**
 * Takes an account out of a warehouse: out of the log and the tables first, then its files, so that no reader and no
 * other process ever finds a publication whose files are missing.
 * Refused while a run, a command or an execution has the lease. May be repeated after it was stopped at any point. The
 * entry of the log stays, and the lease is deleted last, so that an account that is half removed is still known.
 */
export async function removeAccount(ports: DecisionPorts): Promise<"removed" | Skipped> {
  return whileLeased(ports, "remove", undefined, async (_, leased): Promise<"removed"> => {
    const { store, catalog, clock, random, signal } = leased;
    const atMs = clock.now();
    const named = { runId: formatRunId(atMs), atMs, writeId: random.token() };
    const removal = store.keys.publication(await createRemoval(store, named));
    await catalog.refresh(store.account);
    const isRunLog = (key: string): number => Number(key.startsWith(store.keys.runLogs));
    const keys = (await keysOf(store)).own
      .filter((key) => key !== removal && key !== store.keys.lease)
      // First of all what a table shows, as long as it is there.
      .sort((a, b) => isRunLog(b) - isRunLog(a));
    // A run that began after the removal has had the lease: where it is still ours, all of these are older.
    for (const batch of batches(keys, AT_ONCE)) {
      signal.throwIfAborted();
      await store.delete(batch);
    }
    await store.delete([store.keys.lease]);
    return "removed";
  });
}

/** Everything that a warehouse holds of an account, folder by folder. */
interface AccountFiles {
  readonly publications: number;
  /** Published, held and unfinished ones. */
  readonly snapshots: number;
  readonly files: number;
  /** Not of the layout, so `remove` leaves them. */
  readonly foreign: readonly string[];
}

/** Reads only. An account without any file of the layout does not exist; the entry that says that it was removed does not count. */
export async function countFiles(store: AccountStore): Promise<AccountFiles> {
  // A log that is damaged is removed as well.
  const newest = (await readLogSince(store, "").catch(undefinedIfDamaged))?.removal;
  const removal = newest && store.keys.publication(newest.publication);
  const { own, foreign } = await keysOf(store);
  const counted = own.filter((key) => key !== removal);
  const namesIn = (folder: string): ReadonlySet<string> =>
    new Set(counted.flatMap((key) => (key.startsWith(folder) ? key.slice(folder.length).split("/", 1) : [])));
  const { publications, snapshots } = store.keys;
  return {
    publications: namesIn(publications).size,
    snapshots: namesIn(snapshots).size,
    files: counted.length,
    foreign,
  };
}
