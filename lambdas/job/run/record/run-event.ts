// The events on the bus: a run has begun, a snapshot was published or is held, a run failed.

import { type HeldCommands, ifNotAccepted, wasPinned } from "./held-mark.ts";
import { errorColumns, isRun, leftOutCount, type Trigger } from "./run-log.ts";
import type { RunResult } from "./run-result.ts";

/** Contract: EventBridge rules match on these. */
export const EVENT_SOURCE = "brand-events-sync";

export interface RunEvent extends BusEvent {
  readonly detailType: "Snapshot Published" | "Snapshot Held" | "Run Failed";
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
        detailType: "Snapshot Published",
        detail: { ...about, publication: publication ?? null, ...counts, explanation: explanation ?? null },
      };
    }
    case "HELD": {
      const { reason, gone, forbidden, rejected } = row;
      const { pinned: _, ...known } = preview ?? { ...UNKNOWN, gone, forbidden, rejected };
      const commands = snapshot_id === null ? undefined : commandsOf?.(snapshot_id);
      return {
        detailType: "Snapshot Held",
        detail: {
          ...about,
          ...{ listed, events, left_out: leftOutCount(row) },
          ...{ reason, explanation: explanation ?? null },
          ...known,
          accept_command: commands?.accept ?? null,
          diff_command: commands?.diff ?? null,
          wait: ifNotAccepted(wasPinned({ reason, preview })),
        },
      };
    }
    case "FAILED": {
      if (!isRun(trigger)) return undefined;
      const why = { error_code: row.error_code, error_message: row.error_message };
      // The next start, which may be Lambda's own retry, resumes a run that is not finished.
      const finished = error?.isRetryable !== true && isAbandoned !== true;
      const said = explanation === undefined ? {} : { explanation };
      return { detailType: "Run Failed", detail: { ...about, attempt, ...why, finished, ...said } };
    }
    case "SKIPPED": {
      if (row.reason !== "OTHER_VERSION") return undefined;
      const why = { error_code: null, error_message: explanation ?? null };
      return { detailType: "Run Failed", detail: { ...about, attempt, ...why, finished: true } };
    }
    default:
      return undefined;
  }
}

/** The figures of a held snapshot without a preview. */
const UNKNOWN = {
  pinned: undefined,
  base_snapshot_id: null,
  added: null,
  changed: null,
  removed: null,
  oversize: null,
  uuids: {
    ...{ added: [], changed: [], removed: [] },
    ...{ gone: [], forbidden: [], oversize: [], too_deep: [], unreadable: [] },
  },
  too_deep: null,
  unreadable: null,
} as const;

/**
 * The event of a start that failed before it was a run: its settings or its credentials are wrong, for example.
 * @param account null where the start does not say it
 */
export function failedStartEvent(account: string | null, error: unknown): RunEvent {
  const about = { account, run_id: null, snapshot_id: null, trigger: "manual", attempt: null };
  return {
    detailType: "Run Failed",
    detail: { ...about, ...errorColumns(error), finished: true },
  };
}

export interface BusEvent {
  readonly detailType: string;
  /** Sent as JSON. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A run that has begun to work: it has the lease, and opens the service. */
export interface StartedRun {
  readonly runId: string;
  readonly trigger: Trigger;
  readonly startedAtMs: number;
}

/** Sent at least once: a run that crashes before it has a plan begins again. */
export function startedEvent(account: string, { runId, trigger, startedAtMs }: StartedRun): BusEvent {
  const started_at = new Date(startedAtMs).toISOString();
  return {
    detailType: "Run Started",
    detail: { account, run_id: runId, snapshot_id: null, trigger, started_at },
  };
}
