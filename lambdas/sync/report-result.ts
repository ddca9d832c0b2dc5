// Reports the result of a run, an accept or a rollback: metrics, events on the bus, a line in the log.

import { publishedFieldChanges } from "../job/run/publish/published-field-changes.ts";
import { fieldsChangedEvent } from "../job/run/record/bus-event.ts";
import { publicationOf } from "../job/run/record/publication-of.ts";
import { runEvent } from "../job/run/record/run-event.ts";
import type { RunResult } from "../job/run/record/run-result.ts";
import type { RunSettings } from "../job/run/run-settings.ts";
import type { Publication } from "../job/storage/publication-log.ts";
import type { FunctionPorts } from "./function-ports.ts";
import { heldCommands } from "./held/held-commands.ts";
import { attemptMetrics } from "./telemetry/attempt-metrics.ts";
import { mailOf, withMail } from "./telemetry/mail-of.ts";
import { tell } from "./telemetry/tell.ts";

export interface ReportOptions {
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
  let published: Publication | undefined;
  await tell(ports, account, async () => {
    published = await publicationOf(ports.store, account, row);
    const event = runEvent(account, result, published?.publication, (snapshotId) =>
      heldCommands(ports.environment, account, snapshotId),
    );
    return event && withMail(event, mailOf(event, result));
  });
  const publication = published;
  if (publication === undefined) return undefined;
  await tell(ports, account, async () => {
    const changes = await publishedFieldChanges(ports.store, account, publication);
    return changes && fieldsChangedEvent(account, row, publication, changes);
  });
  return publication.publication;
}
