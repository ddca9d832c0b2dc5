// The newest entries of an account's run log.

import { SyncError } from "../../errors/sync-error.ts";
import { parseJson } from "../../storage/json-object.ts";
import { isOfLayout, runInstant } from "../../storage/layout.ts";
import type { AccountStore, Store, StoredKey } from "../../storage/store.ts";
import { type RunLogEntry, runLogEntrySchema } from "./run-log.ts";

/** Reads that are under way at the same time. */
const AT_ONCE = 8;

/** Enough to find the newest ones among, whether or not the files have their times from when they were written. */
const LOOKED_AT = 200;

/**
 * Newest first, by when they ended, as each says itself: files that were copied have other times. Reads few files of a
 * long log. Throws `STORE_CORRUPT` for a damaged one.
 */
export async function lastRuns(store: AccountStore, most: number): Promise<readonly RunLogEntry[]> {
  const listed = await Array.fromAsync(store.list(store.keys.runLogs));
  const files = listed.filter(({ key }) => isOfLayout(key));
  const newest = (order: (a: StoredKey, b: StoredKey) => number): readonly string[] =>
    files
      .toSorted(order)
      .slice(-Math.max(most, LOOKED_AT))
      .map(({ key }) => key);
  const chosen = [...new Set([...newest(byKey), ...newest((a, b) => a.modifiedAtMs - b.modifiedAtMs)])];
  const runs: RunLogEntry[] = [];
  for (let at = 0; at < chosen.length; at += AT_ONCE) {
    runs.push(...(await Promise.all(chosen.slice(at, at + AT_ONCE).map((key) => readEntry(store, key)))));
  }
  return runs.sort(byEnd).slice(-most).reverse();
}

async function readEntry(store: Store, key: string): Promise<RunLogEntry> {
  const stored = await store.read(key);
  if (stored === undefined) throw new SyncError("STORE_CORRUPT", `The run log entry ${key} is missing.`);
  return parseJson(stored.bytes, key, runLogEntrySchema);
}

function byKey(a: StoredKey, b: StoredKey): number {
  return a.key.localeCompare(b.key, "en", { numeric: true });
}

/** A resumed run ends after runs that began later, so the order of ids is not that of ends. */
function byEnd(a: RunLogEntry, b: RunLogEntry): number {
  return endMs(a) - endMs(b) || a.run_id.localeCompare(b.run_id) || a.attempt - b.attempt;
}

/** A log is a file, so its instant may be none: then it is as old as its run. */
function endMs({ started_at, seconds, run_id }: RunLogEntry): number {
  const startedMs = Date.parse(started_at);
  return (Number.isNaN(startedMs) ? (runInstant(run_id) ?? 0) : startedMs) + seconds * 1000;
}
