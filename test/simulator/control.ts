// Commands for using the simulator by hand, beside the service's own interface.

import type { IncomingMessage, ServerResponse } from "node:http";
import { type Evolving, evolve } from "./evolve.ts";
import type { Counts } from "./request-log.ts";

export const CONTROL = { change: "/_simulator/change", counts: "/_simulator/counts" } as const;

interface Controlled extends Evolving {
  readonly counts: Counts;
}

export const isControl = ({ url = "" }: IncomingMessage): boolean => url.startsWith("/_simulator/");

/** Control requests need no authentication, and are neither counted nor limited. */
export const control = (
  { method = "", url = "" }: IncomingMessage,
  response: ServerResponse,
  simulator: Controlled,
): void => {
  const [status, value] = reply(`${method} ${url}`, simulator);
  response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(value)}\n`);
};

const reply = (asked: string, simulator: Controlled): readonly [status: number, value: unknown] => {
  if (asked === `POST ${CONTROL.change}`) return [200, evolve(simulator)];
  if (asked === `GET ${CONTROL.counts}`) return [200, readable(simulator.counts)];
  return [404, { message: `There are POST ${CONTROL.change} and GET ${CONTROL.counts}.` }];
};

const readable = ({ detailsByUuid, statuses, ...counts }: Counts): unknown => ({
  ...counts,
  distinctDetails: detailsByUuid.size,
  statuses: Object.fromEntries(statuses),
});
