// Sends an event about an account. That it cannot be sent changes nothing else.

import type { BusEvent } from "../../job/run/record/bus-event.ts";
import type { FunctionPorts } from "../function-ports.ts";

export type TellPorts = Pick<FunctionPorts, "log" | "metrics" | "sendEvent">;

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
