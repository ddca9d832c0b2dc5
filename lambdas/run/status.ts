// What an account's warehouse says about itself: what readers see, who works on it, what is held, the last runs.

import { SyncError } from "../errors/sync-error.ts";
import { parseJson, readJson } from "../storage/json-object.ts";
import { layout } from "../storage/layout.ts";
import { type Publication, readHead } from "../storage/publication-log.ts";
import type { Store } from "../storage/store.ts";
import { isHeld, leaseSchema } from "./lease-file.ts";
import { type SyncRun, syncRunSchema } from "./sync-run.ts";

const LAST_RUNS = 10;

export interface Status {
  readonly account: string;
  readonly head: Publication | null;
  readonly lease: { readonly run_id: string; readonly expires_at: string } | null;
  /** Snapshots that wait for a person, oldest first. */
  readonly held: readonly string[];
  /** The last attempts, newest first. */
  readonly runs: readonly SyncRun[];
}

/** Reads only. Throws `STORE_CORRUPT` for a damaged file. */
export async function status(store: Store, account: string, nowMs: number): Promise<Status> {
  const lease = await readJson(store, layout.lease(account), leaseSchema);
  const living = lease?.run_id && isHeld(lease, nowMs) ? lease.run_id : undefined;
  return {
    account,
    head: (await readHead(store, account)) ?? null,
    lease: lease && living ? { run_id: living, expires_at: lease.expires_at } : null,
    held: await heldSnapshots(store, account),
    runs: await lastRuns(store, account),
  };
}

async function heldSnapshots(store: Store, account: string): Promise<readonly string[]> {
  const held: string[] = [];
  for await (const { key } of store.list(layout.snapshots(account))) {
    const snapshotId = key.slice(layout.snapshots(account).length).split("/")[0] ?? "";
    if (key === layout.held(account, snapshotId)) held.push(snapshotId);
  }
  return held;
}

async function lastRuns(store: Store, account: string): Promise<readonly SyncRun[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(layout.runLogs(account))) keys.push(key);
  const rows: SyncRun[] = [];
  for (const key of keys.sort(byAttempt).slice(-LAST_RUNS).reverse()) {
    const stored = await store.read(key);
    if (stored === undefined) throw new SyncError("STORE_CORRUPT", `The run log entry ${key} is gone.`);
    rows.push(parseJson(stored.bytes, key, syncRunSchema));
  }
  return rows;
}

/** Attempt 10 comes after attempt 9, which the order of keys does not say. */
function byAttempt(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
