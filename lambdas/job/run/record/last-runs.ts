// The newest entries of an account's run log.

import { SyncError } from "../../errors/sync-error.ts";
import { parseJson } from "../../storage/json-object.ts";
import { isOfLayout, layout } from "../../storage/layout.ts";
import type { Store, StoredKey } from "../../storage/store.ts";
import { type RunLogEntry, runLogEntrySchema } from "./run-log.ts";

/** Reads that are under way at the same time. */
const AT_ONCE = 8;

interface LastRuns {
  /** Newest first. */
  readonly runs: readonly RunLogEntry[];
  /** Of the whole log. */
  readonly total: number;
}

/** Reads no more than `most` of them. Throws `STORE_CORRUPT` for a damaged one. */
export async function lastRuns(store: Store, account: string, most: number): Promise<LastRuns> {
  const listed = await Array.fromAsync(store.list(layout.runLogs(account)));
  const files = listed.filter(({ key }) => isOfLayout(key));
  const newest = files.sort(byEnd).slice(-most).reverse();
  const runs: RunLogEntry[] = [];
  for (let at = 0; at < newest.length; at += AT_ONCE) {
    runs.push(...(await Promise.all(newest.slice(at, at + AT_ONCE).map(({ key }) => readEntry(store, key)))));
  }
  return { runs, total: files.length };
}

async function readEntry(store: Store, key: string): Promise<RunLogEntry> {
  const stored = await store.read(key);
  if (stored === undefined) throw new SyncError("STORE_CORRUPT", `The run log entry ${key} is missing.`);
  return parseJson(stored.bytes, key, runLogEntrySchema);
}

/** A resumed run ends after runs that began later, so the order of ids is not that of ends. */
function byEnd(a: StoredKey, b: StoredKey): number {
  return a.modifiedAtMs - b.modifiedAtMs || a.key.localeCompare(b.key, "en", { numeric: true });
}
