// Sends events to an EventBridge bus.

import { type EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import type { BusEvent } from "../../job/run/record/bus-event.ts";
import { EVENT_SOURCE } from "../../job/run/record/run-event.ts";

/** Sends one event, or throws. Performs no retries of its own. */
export type SendEvent = (event: BusEvent) => Promise<void>;

export interface EventTarget {
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
