// Reports the result of a run, an accept or a rollback: metrics, an event on the bus, a line in the log.

import { isRun, type RunLogEntry } from "../job/run/record/run-log.ts";
import type { RunResult } from "../job/run/record/run-result.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import { findPublicationOf, readLog } from "../job/storage/publication-log.ts";
import type { Store } from "../job/storage/store.ts";
import type { FunctionPorts } from "./function-ports.ts";
import { attemptMetrics } from "./telemetry/attempt-metrics.ts";
import { runEvent } from "./telemetry/run-event.ts";

export interface ReportOptions {
  readonly ports: Pick<FunctionPorts, "store" | "log" | "metrics" | "sendEvent">;
  readonly account: string;
  readonly settings: RunSettings;
}

/**
 * Returns the publication's number: ten digits, undefined where nothing was published. An error of the result is
 * logged by the caller, which throws it.
 */
export async function reportResult(
  result: RunResult,
  { ports, account, settings }: ReportOptions,
): Promise<string | undefined> {
  const { row, error } = result;
  const { outcome, run_id, reason, attempt, seconds } = row;
  ports.metrics(account, attemptMetrics(result, settings));
  if (!error) ports.log.info(`ended as ${outcome}`, { outcome, run_id, attempt, reason, seconds });
  let publication: string | undefined;
  try {
    publication = await publicationOf(ports.store, account, row);
    const event = runEvent(account, result, publication);
    if (event) await ports.sendEvent(event);
  } catch (cause) {
    // The outcome stands without its event, and another start of the same run sends the event again.
    const kind = cause instanceof Error ? cause.name : typeof cause;
    ports.log.warn("the event about this outcome could not be sent", { error_kind: kind });
    ports.metrics(account, { EventNotSent: 1 });
  }
  return publication;
}

async function publicationOf(
  store: Store,
  account: string,
  { outcome, trigger, run_id: runId }: RunLogEntry,
): Promise<string | undefined> {
  if (outcome !== "PUBLISHED") return undefined;
  if (isRun(trigger)) return (await findPublicationOf(store, account, runId))?.publication;
  return (await readLog(store, account)).findLast(({ run_id }) => run_id === runId)?.publication;
}
