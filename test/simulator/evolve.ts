// How the simulated service's events change between two snapshots of a demonstration: always in the same way.

import { makeEvent, type SimulatedEvent } from "./simulated-event.ts";
import type { EventChange } from "./world.ts";

const ADDED = 5;
const CHANGED = 8;
const ARCHIVED = 3;

/** What of the simulator is needed. */
export interface Evolving {
  readonly size: number;
  listed(): readonly SimulatedEvent[];
  has(uuid: string): boolean;
  add(...events: readonly SimulatedEvent[]): void;
  change(uuid: string, change: EventChange): void;
  archive(uuid: string): void;
}

export interface Evolution {
  readonly added: number;
  readonly changed: number;
  readonly archived: number;
}

/** Adds 5, changes 8 and archives 3; fewer where there are too few that it can change or archive. */
export const evolve = (service: Evolving): Evolution => {
  const listed = service.listed();
  const archived = spread(listed, ARCHIVED);
  const kept = listed.filter((event) => !archived.includes(event));
  const changed = spread(kept, CHANGED).filter(({ source }) => REVISION.test(source));
  for (const { uuid } of archived) service.archive(uuid);
  for (const { uuid, source } of changed) service.change(uuid, { source: revised(source) });
  let number = service.size;
  for (let added = 0; added < ADDED; added += 1) {
    do number += 1;
    while (service.has(makeEvent(number).uuid));
    service.add(makeEvent(number));
  }
  return { added: ADDED, changed: changed.length, archived: archived.length };
};

const REVISION = /"revision":(\d+)/;

const revised = (source: string): string =>
  source
    .replace(REVISION, (_, revision: string) => `"revision":${Number(revision) + 1}`)
    .replace(/"impressions":(\d+)/, (_, count: string) => `"impressions":${Number(count) + 1_250}`);

/** `count` of them, evenly spread. */
const spread = <T>(items: readonly T[], count: number): readonly T[] =>
  items.filter(
    (_, index) =>
      Math.floor((index * count) / items.length) !== Math.floor(((index - 1) * count) / items.length),
  );
