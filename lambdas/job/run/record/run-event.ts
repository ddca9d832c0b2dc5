// The events about a run: a snapshot was published, a snapshot is held, a run failed.

import { SyncError } from "../../errors/sync-error.ts";
import { type HeldCommands, heldDetail } from "../compare/held-snapshots.ts";
import type { BusEvent } from "./bus-event.ts";
import { isRun, leftOutCount, type RunLogEntry } from "./run-log.ts";
import type { RunResult } from "./run-result.ts";

/** Contract: EventBridge rules match on these. */
export const EVENT_SOURCE = "brand-events-sync";
const DETAIL_TYPES = {
  published: "Snapshot Published",
  held: "Snapshot Held",
  failed: "Run Failed",
} as const;

export interface RunEvent extends BusEvent {
  readonly detailType: (typeof DETAIL_TYPES)[keyof typeof DETAIL_TYPES];
}

/**
 * Undefined for outcomes without an event. Sent at least once, because a start that finds its run finished sends it
 * again: consumers identify a publication by its account and number.
 * @param publication ten digits; undefined where nothing was published.
 * @param commandsOf those that decide on a held snapshot, from where the event is sent
 */
export function runEvent(
  account: string,
  { row, error, explanation, preview, isAbandoned }: RunResult,
  publication: string | undefined,
  commandsOf?: (snapshotId: string) => HeldCommands,
): RunEvent | undefined {
  const { run_id, snapshot_id, trigger, attempt, listed, events, added, changed, removed } = row;
  const about = { account, run_id, snapshot_id, trigger };
  switch (row.outcome) {
    case "PUBLISHED": {
      const counts = { listed, events, added, changed, removed, left_out: leftOutCount(row) };
      return {
        detailType: DETAIL_TYPES.published,
        detail: { ...about, publication: publication ?? null, ...counts },
      };
    }
    case "HELD": {
      const counts = { listed, events, left_out: leftOutCount(row) };
      const why = { reason: row.reason, explanation: explanation ?? null };
      const commands = snapshot_id === null ? undefined : commandsOf?.(snapshot_id);
      const held = heldDetail(row, preview, commands);
      return { detailType: DETAIL_TYPES.held, detail: { ...about, ...counts, ...why, ...held } };
    }
    case "FAILED": {
      if (!isRun(trigger)) return undefined;
      const why = { error_code: row.error_code, error_message: row.error_message };
      // The next start, which may be Lambda's own retry, resumes a run that is not finished.
      const finished = error?.isRetryable !== true && isAbandoned !== true;
      return { detailType: DETAIL_TYPES.failed, detail: { ...about, attempt, ...why, finished } };
    }
    case "SKIPPED":
    case "SUPERSEDED":
    case "HANDED_OVER":
    case "DRY_RUN":
      return undefined;
  }
}

/** The event of a start that failed before it was a run: its settings or its credentials are wrong, for example. */
export function failedStartEvent(account: string, error: unknown): RunEvent {
  const about = { account, run_id: null, snapshot_id: null, trigger: "manual", attempt: null };
  return {
    detailType: DETAIL_TYPES.failed,
    detail: { ...about, ...errorColumns(error), finished: true },
  };
}

/** The message of an error that is not ours may quote data, so only its kind is written. */
export function errorColumns(error: unknown): Pick<RunLogEntry, "error_code" | "error_message"> {
  if (error instanceof SyncError) return { error_code: error.code, error_message: error.message };
  const kind = error instanceof Error ? error.name : typeof error;
  return {
    error_code: null,
    error_message: `Unexpected error (${kind}). This is a defect: please report it.`,
  };
}
