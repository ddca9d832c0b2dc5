// Everything that the report says of one account, read from its warehouse.

import { isDamage } from "../../../../lambdas/job/errors/sync-error.ts";
import { lastRuns } from "../../../../lambdas/job/run/record/last-runs.ts";
import { isRun, type RunLogEntry } from "../../../../lambdas/job/run/record/run-log.ts";
import { type Status, status } from "../../../../lambdas/job/run/status.ts";
import type { Limit } from "../../../../lambdas/job/settings/limit.ts";
import { type FieldChanges, fieldChanges } from "../../../../lambdas/job/snapshot/fields/field-changes.ts";
import type { Profile } from "../../../../lambdas/job/snapshot/fields/field-profile.ts";
import { type Manifest, readManifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { type DamagedAccount, orDamage } from "../../../../lambdas/job/storage/known-accounts.ts";
import { FOLDERS } from "../../../../lambdas/job/storage/layout.ts";
import { entryIds, type Publication, readEntry } from "../../../../lambdas/job/storage/publication-log.ts";
import { listSnapshots, type SnapshotFiles } from "../../../../lambdas/job/storage/snapshot-marks.ts";
import type { AccountStore, Store } from "../../../../lambdas/job/storage/store.ts";

export interface RequestLimit {
  readonly requestsPerMinute: Limit;
  readonly limitWindowSeconds: number;
}

export interface AccountReport {
  readonly account: string;
  readonly status: Status;
  readonly publications: LastPublications;
  /** The last attempts of runs, oldest first. */
  readonly runs: readonly RunLogEntry[];
  /** Attempts of every kind in the whole run log. */
  readonly allAttempts: number;
  readonly limit: RequestLimit;
  readonly fieldNews: FieldNews;
  /** Undefined where nothing is published, or the manifest cannot be read. */
  readonly leftOut: LeftOutCounts | undefined;
  readonly storage: StorageUse;
}

export type ReportedAccount = AccountReport | DamagedAccount;

const MOST_RUNS = 60;

/** Reads only, and no event. Throws `STORE_FAILED`. */
export async function readAccount(
  store: AccountStore,
  limit: RequestLimit,
  nowMs: number,
): Promise<ReportedAccount> {
  return await orDamage(store.account, async () => {
    const found = await status(store, nowMs);
    const publications = await readLastPublications(store, found.head);
    const { runs, total } = await lastRuns(store, MOST_RUNS);
    return {
      account: store.account,
      status: found,
      publications,
      runs: runs.filter(({ trigger }) => isRun(trigger)).toReversed(),
      allAttempts: total,
      limit,
      fieldNews: await readFieldNews(store, publications.shown),
      leftOut: await readLeftOut(store, found.head),
      storage: await readStorage(store, found, publications.shown),
    };
  });
}

/** Which publications changed the fields of events: new ones, ones that are gone, ones with other types. */
export interface ChangedFields {
  readonly publication: Publication;
  readonly changes: FieldChanges;
}

export interface FieldNews {
  /** The publications that changed any, oldest first. */
  readonly changed: readonly ChangedFields[];
  /** Publications that could be compared with the one before. */
  readonly compared: number;
  /** Fields of the head; undefined where its manifest cannot be read. */
  readonly fields: number | undefined;
}

/** Each takes a read of a manifest, which may be large. */
const MOST = 60;

async function readFieldNews(store: AccountStore, publications: readonly Publication[]): Promise<FieldNews> {
  const changed: ChangedFields[] = [];
  let compared = 0;
  let last: { readonly snapshotId: string; readonly profile: Profile | undefined } | undefined;
  const profileOf = async (snapshotId: string): Promise<Profile | undefined> =>
    last?.snapshotId === snapshotId ? last.profile : manifestIfWhole(store, snapshotId);
  for (const publication of publications.slice(-MOST)) {
    const { base_snapshot_id: base, snapshot_id: snapshotId } = publication;
    const before = base === null ? undefined : await profileOf(base);
    const after = await profileOf(snapshotId);
    last = { snapshotId, profile: after };
    if (before === undefined || after === undefined) continue;
    compared += 1;
    const changes = fieldChanges(before, after);
    const { added, gone, retyped } = changes;
    if (added.length + gone.length + retyped.length > 0) changed.push({ publication, changes });
  }
  return { changed, compared, fields: last?.profile?.fields.length };
}

/** The newest publications of an account. */
export interface LastPublications {
  /** Oldest first. */
  readonly shown: readonly Publication[];
  /** Of the whole log. */
  readonly total: number;
}

/** Wide enough for a year of days; each is one small read. */
const MOST_PUBLICATIONS = 400;
const AT_ONCE = 8;

/** Up to the head. Throws `STORE_CORRUPT` for a damaged one. */
async function readLastPublications(
  store: AccountStore,
  head: Publication | null,
): Promise<LastPublications> {
  if (head === null) return { shown: [], total: 0 };
  const ids = (await entryIds(store)).filter((id) => id <= head.publication);
  let shown: Publication[] = [];
  for (let end = ids.length; end > 0 && shown.length < MOST_PUBLICATIONS; end -= AT_ONCE) {
    const some = ids.slice(Math.max(0, end - AT_ONCE), end);
    const entries = await Promise.all(some.map((id) => readEntry(store, id)));
    const cut = entries.findLastIndex((entry) => entry === undefined || entry.action === "remove");
    const above = entries.slice(cut + 1).filter((entry) => entry !== undefined && entry.action !== "remove");
    shown = [...above, ...shown];
    if (cut !== -1) return { shown, total: shown.length };
  }
  return { shown: shown.slice(-MOST_PUBLICATIONS), total: ids.length };
}

/** How many listed events have no row in the snapshot that readers see, by reason. */
type Counts = Manifest["counts"];

export interface LeftOutCounts {
  readonly now: Counts;
  /** Of the snapshot that the head is compared with; undefined where that is gone. */
  readonly before: Counts | undefined;
}

async function readLeftOut(
  store: AccountStore,
  head: Publication | null,
): Promise<LeftOutCounts | undefined> {
  if (head === null) return undefined;
  const now = (await manifestIfWhole(store, head.snapshot_id))?.counts;
  const base = head.base_snapshot_id;
  const before = base === null ? undefined : (await manifestIfWhole(store, base))?.counts;
  return now && { now, before };
}

/** How much room the snapshots of an account take, and what each is to readers. */
export type SnapshotState = "what readers see" | "published before" | "held" | "retired" | "not published";

export interface StoredSnapshot {
  readonly snapshotId: string;
  readonly state: SnapshotState;
  /** As they are stored. */
  readonly bytes: number;
}

export interface StorageUse {
  /** Oldest first, without those of which only marks are left. */
  readonly snapshots: readonly StoredSnapshot[];
  /** Below `changes/`. */
  readonly changesBytes: number;
  /** Below `runs/`: fetched work. */
  readonly stagedBytes: number;
}

async function readStorage(
  store: AccountStore,
  { head, held }: Pick<Status, "head" | "held">,
  publications: readonly Publication[],
): Promise<StorageUse> {
  const published = new Set(publications.map(({ snapshot_id }) => snapshot_id));
  const waiting = new Set(held.map(({ snapshotId }) => snapshotId));
  const oldestKnown = publications[0]?.snapshot_id ?? "";
  const stateOf = ({ snapshotId, isRetired }: SnapshotFiles): SnapshotState => {
    if (snapshotId === head?.snapshot_id) return "what readers see";
    if (isRetired) return "retired";
    if (waiting.has(snapshotId)) return "held";
    // Those before the publications that were read are most likely published.
    return published.has(snapshotId) || snapshotId < oldestKnown ? "published before" : "not published";
  };
  const found = await listSnapshots(store);
  return {
    snapshots: found
      .filter(({ snapshotId, files }) => {
        const marks = [store.keys.held(snapshotId), store.keys.retired(snapshotId)];
        return files.some(({ key }) => !marks.includes(key));
      })
      .map((files) => ({ snapshotId: files.snapshotId, state: stateOf(files), bytes: files.bytes })),
    changesBytes: await bytesBelow(store, `${FOLDERS.changes}${store.account}/`),
    stagedBytes: await bytesBelow(store, store.keys.runs),
  };
}

async function bytesBelow(store: Store, prefix: string): Promise<number> {
  let sum = 0;
  for await (const { bytes } of store.list(prefix)) sum += bytes;
  return sum;
}

/** Undefined where retention has deleted it, or it is damaged: `check` reports damage. */
async function manifestIfWhole(store: AccountStore, snapshotId: string): Promise<Manifest | undefined> {
  try {
    return await readManifest(store, snapshotId);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
