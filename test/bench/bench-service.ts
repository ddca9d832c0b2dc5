// A separate program: the simulated service of one case. Its parent sends messages, and gets one reply to each.

import type { FaultRule } from "../simulator/faults.ts";
import { makeEvent, type SimulatedEvent } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import type { ServiceOptions } from "./bench-case.ts";
import { readCertificate } from "./certificate.ts";

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
  readonly firstDetailAtMs: number;
  readonly lastResponseAtMs: number;
  readonly requests: number;
  readonly throttled: number;
  readonly bytes: number;
  /** Of the service's process, user and system. */
  readonly cpuMs: number;
}

/** Between the pieces of a body that arrives slowly. */
const PAUSE_MS = 20;

const options: ServiceOptions = JSON.parse(process.argv[2] ?? "");
const { requestsPerMinute, isSecure } = options;
const events = Array.from({ length: options.events }, (_, index) => eventOf(index + 1));
const faults = faultRules();
let changes = 0;
let cpuBefore = process.cpuUsage();
const simulator = await Simulator.start({
  events,
  faults,
  latencyMs: options.latencyMs,
  ...(isSecure && { tls: readCertificate() }),
  limits: requestsPerMinute === undefined ? {} : { requestsPerWindow: requestsPerMinute },
});
process.on("message", (command: ServiceCommand) => send(replyTo(command)));
process.once("disconnect", () => process.exit()); // the parent was killed
send({ url: simulator.url, credentials: simulator.credentials } satisfies ServiceAddress);

/** Built before the requests arrive, so that the measurement excludes the service's own work. */
function eventOf(n: number): SimulatedEvent {
  const { eventLength, listingLength } = options;
  const { uuid, listing, source } = makeEvent(n, { length: eventLength });
  const entry = listing.slice(0, -1);
  return {
    uuid,
    source: source.length > eventLength * 1.2 ? padded(`${entry},"revision":1`, eventLength) : source,
    listing: padded(entry, listingLength),
    listed: true,
    archived: false,
  };
}

/** An object of this length that begins like this. */
function padded(start: string, length: number): string {
  const text = `${start},"summary":"`;
  return `${text}${"x".repeat(Math.max(0, length - text.length - 2))}"}`;
}

function faultRules(): readonly FaultRule[] {
  const { failing, bytesPerSecond, eventLength } = options;
  const every = (oneIn: number, first: number): ReadonlySet<string> =>
    new Set(events.filter((_, index) => index % oneIn === first).map(({ uuid }) => uuid));
  const rules: FaultRule[] = [];
  if (failing) {
    const { statusOneIn, resetOneIn } = failing;
    rules.push(
      {
        match: { path: "detail", uuids: every(statusOneIn, 1), each: true },
        fault: { kind: "status", status: 500 },
      },
      { match: { path: "detail", uuids: every(resetOneIn, 2), each: true }, fault: { kind: "reset" } },
    );
  }
  if (bytesPerSecond !== undefined) {
    const pieces = Math.ceil(eventLength / ((bytesPerSecond * PAUSE_MS) / 1_000));
    const match = { path: "detail", times: Number.POSITIVE_INFINITY } as const;
    rules.push({ match, fault: { kind: "slow-body", pauseMs: PAUSE_MS, pieces } });
  }
  return rules;
}

function replyTo(command: ServiceCommand): ServiceReport | "done" {
  switch (command.do) {
    case "reset":
      simulator.reset();
      simulator.configure({ faults }); // each event fails once more
      cpuBefore = process.cpuUsage();
      return "done";
    case "change":
      changes += 1;
      for (const [index, { uuid, source }] of simulator.listed().entries()) {
        if (index % command.oneIn !== 0) continue;
        simulator.change(uuid, { source: source.replace(/"revision":\d+/, `"revision":${changes + 1}`) });
      }
      return "done";
    case "report": {
      const { user, system } = process.cpuUsage(cpuBefore);
      const { requests, statuses, bytes } = simulator.counts;
      const seen = simulator.requests;
      const firstDetail = seen.find(({ endpoint }) => endpoint === "detail");
      return {
        firstRequestAtMs: seen[0]?.arrivedAtMs ?? Number.NaN,
        firstDetailAtMs: firstDetail?.arrivedAtMs ?? Number.NaN,
        lastResponseAtMs: seen.at(-1)?.answeredAtMs ?? Number.NaN,
        requests,
        throttled: statuses.get(429) ?? 0,
        bytes,
        cpuMs: (user + system) / 1_000,
      };
    }
  }
}

function send(message: ServiceAddress | ServiceReport | "done"): void {
  process.send?.(message);
}
