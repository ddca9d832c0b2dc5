// The story that the runbook tells in its section "Held": on one day twenty events, on the next far fewer.

import { makeEvent, makeEvents } from "../../simulator/simulated-event.ts";
import type { Simulator } from "../../simulator/simulator.ts";

export function firstDay(service: Simulator): void {
  service.setEvents(makeEvents(20));
}

/** Six events are no longer listed, one has another name, one is new, and one is listed but not licensed. */
export function worseDay(service: Simulator): void {
  const listed = service.listed();
  for (const { uuid } of listed.slice(0, 6)) service.unlist(uuid);
  const [renamed, forbidden] = listed.slice(6);
  if (renamed === undefined || forbidden === undefined) throw new Error("too few events");
  const source = service.detailSource(renamed.uuid).replace(/("name": *)"[^"]*"/, '$1"Another name"');
  service.change(renamed.uuid, { source });
  service.restrict(forbidden.uuid);
  service.add(makeEvent(1_000));
}
