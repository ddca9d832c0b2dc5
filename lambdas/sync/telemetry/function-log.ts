// The log as structured lines in CloudWatch, each with the ids of its request, account and run.

import { Logger as PowertoolsLogger } from "@aws-lambda-powertools/logger";
import { type EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import type { Context } from "aws-lambda";
import type { BusEvent } from "../../job/run/record/bus-event.ts";
import { EVENT_SOURCE } from "../../job/run/record/run-event.ts";
import type { Progress } from "../../job/run/run-ports.ts";
import type { Clock } from "../../job/runtime/clock.ts";
import type { LogFields, Logger } from "../../job/runtime/logger.ts";

/** A logger whose lines have the ids of the invocation, its account and its run. */
export interface FunctionLog extends Logger {
  /** Replaces the ids of the previous invocation by this one's request id. */
  begin(context: Context): void;
  /** Adds ids to all later lines. */
  about(fields: { readonly account?: string; readonly run_id?: string }): void;
}

export function functionLog(): FunctionLog {
  const logger = new PowertoolsLogger({ serviceName: "brand-events-sync" });
  return {
    begin: (context) => {
      logger.resetKeys();
      logger.addContext(context);
    },
    about: (fields) => logger.appendKeys(fields),
    debug: (message, fields: LogFields = {}) => logger.debug(message, { ...fields }),
    info: (message, fields: LogFields = {}) => logger.info(message, { ...fields }),
    warn: (message, fields: LogFields = {}) => logger.warn(message, { ...fields }),
    error: (message, fields: LogFields = {}) => logger.error(message, { ...fields }),
  };
}

/** Logs once a minute how many events are done, so that a person who follows the log sees progress. */
const EVERY_MS = 60_000;

export function progressLog(logger: Logger, clock: Pick<Clock, "monotonicMs">): (progress: Progress) => void {
  let loggedAtMs = clock.monotonicMs();
  return ({ done, total, retries }) => {
    if (clock.monotonicMs() < loggedAtMs + EVERY_MS) return;
    loggedAtMs = clock.monotonicMs();
    logger.info(`${done} of ${total} events are done`, { done, total, retries });
  };
}

/** Sends one event, or throws. Performs no retries of its own. */
export type SendEvent = (event: BusEvent) => Promise<void>;

interface EventTarget {
  readonly eventBus: string;
  /** Tells the events of two deployments on one bus apart: each has a workgroup of its own. */
  readonly workgroup: string;
}

export function eventBridgeSender(
  client: EventBridgeClient,
  { eventBus, workgroup }: EventTarget,
): SendEvent {
  return async ({ detailType, detail }) => {
    const entry = {
      EventBusName: eventBus,
      Source: EVENT_SOURCE,
      DetailType: detailType,
      Detail: JSON.stringify({ ...detail, workgroup }),
    };
    const { FailedEntryCount = 0, Entries = [] } = await client.send(
      new PutEventsCommand({ Entries: [entry] }),
    );
    // PutEvents returns status 200 for a refused entry.
    if (FailedEntryCount > 0) {
      throw new Error(`the event bus ${eventBus} refused the event: ${Entries[0]?.ErrorCode ?? "unknown"}`);
    }
  };
}
