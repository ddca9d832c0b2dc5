// Reports the result of a run, an accept or a rollback: metrics, events on the bus, a line in the log.

import { publishedFieldChanges } from "../job/run/publish/log-field-changes.ts";
import { type BusEvent, fieldsChangedEvent } from "../job/run/record/bus-event.ts";
import { failedStartEvent, runEvent } from "../job/run/record/run-event.ts";
import { publicationOf, type RunResult } from "../job/run/record/run-result.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import type { Publication } from "../job/storage/publication-log.ts";
import { accountStore } from "../job/storage/store.ts";
import type { FunctionPorts } from "./function-ports.ts";
import { heldInvocations } from "./response.ts";
import { attemptMetrics, UNEXPECTED_ERROR_METRICS } from "./telemetry/alarm-metrics.ts";
import { failedMail, mailOf, withMail } from "./telemetry/mail-of.ts";

interface ReportOptions {
  readonly ports: Pick<FunctionPorts, "environment" | "store" | "log" | "metrics" | "sendEvent">;
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
  const store = accountStore(ports.store, account);
  let published: Publication | undefined;
  await tell(ports, account, async () => {
    published = await publicationOf(store, row);
    const event = runEvent(account, result, published?.publication, (snapshotId) =>
      heldInvocations(ports.environment, account, snapshotId),
    );
    return event && withMail(event, mailOf(event, result));
  });
  const publication = published;
  if (publication === undefined) return undefined;
  await tell(ports, account, async () => {
    const changes = await publishedFieldChanges(store, publication);
    return changes && fieldsChangedEvent(account, row, publication, changes);
  });
  return publication.publication;
}

/** @param runId null where the invocation was no run, or did not get as far */
export async function reportUnexpected(
  ports: TellPorts,
  account: string,
  runId: string | null,
  error: unknown,
): Promise<void> {
  ports.metrics(account, UNEXPECTED_ERROR_METRICS);
  const { detailType, detail } = failedStartEvent(account, error);
  const event = { detailType, detail: { ...detail, run_id: runId, trigger: null, finished: false } };
  await tell(ports, account, async () => withMail(event, failedMail(account, event.detail, "failed")));
}

/** Sends an event about an account. That it cannot be sent changes nothing else. */
type TellPorts = Pick<FunctionPorts, "log" | "metrics" | "sendEvent">;

/** @param make reads what the event says; undefined where there is nothing to send */
export async function tell(
  { log, metrics, sendEvent }: TellPorts,
  account: string,
  make: () => Promise<BusEvent | undefined>,
): Promise<void> {
  try {
    const event = await make();
    if (event) await sendEvent(event);
  } catch (cause) {
    // The outcome stands without its event, and another start of the same run sends the event again.
    const kind = cause instanceof Error ? cause.name : typeof cause;
    log.warn("an event about this run could not be sent", { error_kind: kind });
    metrics(account, { EventNotSent: 1 });
  }
}
