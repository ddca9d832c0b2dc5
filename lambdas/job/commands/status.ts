// What an account's warehouse says about itself: what readers see, a run under way, what is held, the last runs.

import type { Advice } from "../errors/advice.ts";
import { undefinedIfDamaged } from "../errors/sync-error.ts";
import { type HeldLease, heldLease, readLease } from "../run/lease/lease-file.ts";
import { type HeldSnapshot, heldSnapshots } from "../run/publish/held-snapshots.ts";
import { lastRuns, type RunLogEntry } from "../run/record/run-log.ts";
import { readRunResult } from "../run/record/run-result.ts";
import type { ListDoubt } from "../service/event-service.ts";
import { type FieldChanges, fieldChanges } from "../snapshot/fields/field-changes.ts";
import { readManifest } from "../snapshot/files/manifest.ts";
import type { DamagedAccount } from "../storage/known-accounts.ts";
import type { Publication } from "../storage/publication.ts";
import { readHead } from "../storage/publication-log.ts";
import type { AccountStore } from "../storage/store.ts";

const LAST_RUNS = 10;

export interface Status {
  readonly account: string;
  readonly head: Publication | null;
  readonly lease: HeldLease | null;
  /** Snapshots that wait for a decision, oldest first. */
  readonly held: readonly HeldSnapshot[];
  /** The last attempts, newest first; those in the future last. */
  readonly runs: readonly RunLogEntry[];
  /** What a person does about the last of them, where it has failed for good. */
  readonly next: Advice;
  /** What is new in the fields of the head's events, against the snapshot before it; undefined where that is gone. */
  readonly fieldChanges: FieldChanges | undefined;
  /** Why the list of what readers see may be a part only. */
  readonly doubt: ListDoubt | undefined;
}

/** Reads only. Throws `STORE_CORRUPT` for a damaged file among those that it reads. */
export async function status(store: AccountStore, nowMs: number): Promise<Status> {
  const lease = (await readLease(store))?.lease;
  const head = await readHead(store);
  // check and run report a damaged manifest: here it must not hide everything else.
  const manifest = head && (await readManifest(store, head.snapshot_id).catch(undefinedIfDamaged));
  const runs = await lastRuns(store, LAST_RUNS, nowMs);
  return {
    account: store.account,
    head: head ?? null,
    lease: (lease && heldLease(lease, nowMs)) ?? null,
    held: await heldSnapshots(store, { head, nowMs }),
    runs,
    next: await adviceOn(store, runs[0]),
    fieldChanges: head && (await publishedFieldChanges(store, head).catch(undefinedIfDamaged)),
    doubt: manifest?.doubt,
  };
}

async function adviceOn(store: AccountStore, last: RunLogEntry | undefined): Promise<Advice> {
  if (last?.outcome !== "FAILED") return [];
  return (await readRunResult(store, last.run_id).catch(undefinedIfDamaged))?.error?.next ?? [];
}

/** Undefined for the first publication, and where the snapshot before it is deleted. Throws `STORE_CORRUPT`. */
async function publishedFieldChanges(
  store: AccountStore,
  { snapshot_id: snapshotId, base_snapshot_id: base }: Publication,
): Promise<FieldChanges | undefined> {
  if (base === null || (await store.read(store.keys.manifest(base))) === undefined) return undefined;
  return fieldChanges(await readManifest(store, base), await readManifest(store, snapshotId));
}

/** The status of several accounts: one that cannot be read does not hide the others. */
export type AccountStatus = Status | DamagedAccount;
