// A separate program: the simulated service of one case. Its parent sends messages, and gets one reply to each.

import { makeEvent, type SimulatedEvent } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import type { Load } from "./bench-cases.ts";

/** `change` revises one event in `oneIn`; `report` returns the counts since the last `reset`. */
export type ServiceCommand =
  | { readonly do: "reset" | "report" }
  | { readonly do: "change"; readonly oneIn: number };

export interface ServiceAddress {
  readonly url: string;
  readonly credentials: { readonly email: string; readonly password: string };
}

export interface ServiceReport {
  /** By the machine's clock. */
  readonly firstRequestAtMs: number;
  readonly requests: number;
}

/** Of one list entry, in characters. */
const LISTING_LENGTH = 200;

const { events, eventLength }: Load = JSON.parse(process.argv[2] ?? "");
let changes = 0;
const simulator = await Simulator.start({
  events: Array.from({ length: events }, (_, index) => eventOf(index + 1)),
});
process.on("message", (command: ServiceCommand) => send(replyTo(command)));
process.once("disconnect", () => process.exit()); // the parent was killed
send({ url: simulator.url, credentials: simulator.credentials } satisfies ServiceAddress);

/** Built before the requests arrive, so that the measurement excludes the service's own work. */
function eventOf(n: number): SimulatedEvent {
  const { uuid, listing, source } = makeEvent(n, { length: eventLength });
  const entry = listing.slice(0, -1);
  return {
    uuid,
    source: source.length > eventLength * 1.2 ? padded(`${entry},"revision":1`, eventLength) : source,
    listing: padded(entry, LISTING_LENGTH),
    listed: true,
    archived: false,
  };
}

/** An object of this length that begins like this. */
function padded(start: string, length: number): string {
  const text = `${start},"summary":"`;
  return `${text}${"x".repeat(Math.max(0, length - text.length - 2))}"}`;
}

function replyTo(command: ServiceCommand): ServiceReport | "done" {
  switch (command.do) {
    case "reset":
      simulator.reset();
      return "done";
    case "change":
      changes += 1;
      for (const [index, { uuid, source }] of simulator.listed().entries()) {
        if (index % command.oneIn !== 0) continue;
        simulator.change(uuid, { source: source.replace(/"revision":\d+/, `"revision":${changes + 1}`) });
      }
      return "done";
    case "report":
      return {
        firstRequestAtMs: simulator.requests[0]?.arrivedAtMs ?? Number.NaN,
        requests: simulator.counts.requests,
      };
  }
}

function send(message: ServiceAddress | ServiceReport | "done"): void {
  process.send?.(message);
}
