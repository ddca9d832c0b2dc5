// What the service has listed to a run: a snapshot has all of it, and is held where its readings disagree too much.

import type { ServedCall } from "../service/virtual-service.ts";
import type { Model } from "./model.ts";

/** The list of a run, as its plan must have it. */
export interface ListOfRun {
  readonly uuids: ReadonlySet<string>;
  /** Events that some reading lacks; of a single reading entries that came on another page before. */
  readonly unstable: number;
}

/** A page of the list was sent. Faults lose pages on their way, so only processes without any are watched. */
export function notePage(model: Model, { by, request, status, text }: ServedCall): void {
  const facts = model.processes.get(by);
  if (facts === undefined || request.endpoint !== "list" || status !== 200) return;
  const { query } = request;
  if (!["page", "offset", "cursor"].some((name) => query.has(name))) {
    facts.readings.push([]);
    facts.stated = 0;
  }
  const reading = facts.readings.at(-1);
  facts.stated = Math.max(facts.stated, Number(/"total":(\d+)/.exec(text)?.[1] ?? 0));
  const uuids = Array.from(text.matchAll(/"uuid":"([^"]+)"/g), ([, uuid = ""]) => uuid);
  // Page 1 is asked for after a first request without a number, and is the same if pages are counted from 1.
  const known = new Set(reading?.flat());
  if (query.get("page") !== "1" || !uuids.every((uuid) => known.has(uuid))) reading?.push(uuids);
}

/** The plan of a run was written. */
export function notePlan(model: Model, runId: string, by: string): void {
  const facts = model.processes.get(by);
  if (facts === undefined || model.isTroubled(facts.start.id)) return;
  const [first = []] = facts.readings;
  const overlapping = first.flat().length - new Set(first.flat()).size;
  const earlier = facts.readings.map((pages) => new Set(pages.flat()));
  const newest = earlier.pop() ?? new Set<string>();
  const isReadOnce = earlier.length === 0;
  // Readings that agree on fewer events than the service has are none.
  const agrees = earlier.some((reading) => reading.symmetricDifference(newest).size === 0);
  if (overlapping === 0 || (agrees && newest.size >= facts.stated)) {
    if (overlapping === 0 && !isReadOnce) model.fail(`${by} reads a list again that repeats nothing`);
    model.lists.set(runId, { uuids: newest, unstable: 0 });
    return;
  }
  if (isReadOnce && facts.start.by === "laptop") model.fail(`${by} reads a list once that repeats events`);
  if (earlier.length > 2) model.fail(`${by} reads a list more than three times`);
  const all = earlier.reduce((union, reading) => union.union(reading), newest);
  const common = earlier.reduce((both, reading) => both.intersection(reading), newest);
  model.lists.set(runId, { uuids: all, unstable: isReadOnce ? overlapping : all.size - common.size });
}
