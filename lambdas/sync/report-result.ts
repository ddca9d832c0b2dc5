// Reports the result of a run, an accept or a rollback: metrics, an event on the bus, a line in the log.

import { publicationOf } from "../job/run/record/publication-of.ts";
import { runEvent } from "../job/run/record/run-event.ts";
import type { RunResult } from "../job/run/record/run-result.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import type { FunctionPorts } from "./function-ports.ts";
import { attemptMetrics } from "./telemetry/attempt-metrics.ts";

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
