// What the service answers means for a snapshot: it has all that was listed, is held where its readings disagree too much, and
// leaves out no event because of one answer.

import type { ServedCall } from "../service/virtual-service.ts";
import type { Model, ProcessFacts } from "./model.ts";
import type { SeenLeftOut, SeenPublication } from "./reader.ts";

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
  // A total of something else is not the list's.
  const total = /(?<!"quota":\{)"total(?:_items|Elements|Count)?":(\d+)/.exec(text)?.[1] ?? 0;
  facts.stated = Math.max(facts.stated, Number(total));
  const uuids = Array.from(text.matchAll(/"uuid":"([^"]+)"/g), ([, uuid = ""]) => uuid);
  // So some services answer behind the last page.
  if (reading && reading.length > 0 && uuids.length > 0 && uuids.join() === reading.at(-1)?.join()) return;
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

/** Between two answers that count, at least. */
const APART_MS = 5_000;

/** An answer of the service, or of a gateway before it, that gives no details. */
export interface Refusal {
  readonly by: string;
  readonly uuid: string;
  readonly reason: "gone" | "forbidden" | "unreadable";
  readonly atMs: number;
  /** No event's details were given then. */
  readonly isWall: boolean;
}

const REASONS: ReadonlyMap<number, Refusal["reason"]> = new Map([
  [403, "forbidden"],
  [404, "gone"],
  [410, "gone"],
]);

export function noteRefusal(model: Model, { by, request, status, atMs, isOdd, isWall }: ServedCall): void {
  const reason = REASONS.get(status) ?? (isOdd ? "unreadable" : undefined);
  const { uuid } = request;
  if (uuid !== undefined && reason) model.refusedDetails.push({ by, uuid, reason, atMs, isWall });
}

/** Of what readers see when a process begins, and of what they see next while it works. */
export function noteKnown(model: Model, facts: ProcessFacts): void {
  const head = model.reader.log().at(-1);
  if (head === undefined) return;
  for (const { uuid } of model.reader.leftOut(head.snapshot_id)) facts.knownLeftOut.add(uuid);
}

/** A process has recorded that it leaves these out of a run. */
export function noteLeftOut(model: Model, runId: string, by: string, leftOut: readonly SeenLeftOut[]): void {
  for (const { uuid } of leftOut) model.leftOutBy.set(`${runId} ${uuid}`, by);
}

/** Whether an event was ever refused so. */
export function wasRefused(model: Model, uuid: string, holds: (refusal: Refusal) => boolean): boolean {
  return model.refusedDetails.some((refusal) => refusal.uuid === uuid && holds(refusal));
}

/**
 * A run has published: without a person nothing is left out because of one answer, or because of answers from a time when
 * none was answered.
 */
export function checkRefusals(model: Model, { publication, snapshot_id: runId }: SeenPublication): void {
  for (const { uuid, reason } of model.reader.leftOut(runId)) {
    const facts = model.processes.get(model.leftOutBy.get(`${runId} ${uuid}`) ?? "");
    const isOfToday = facts?.version === "today";
    if (!isOfToday || facts.knownLeftOut.has(uuid) || !isRefusal(reason)) continue;
    const refusals = model.refusedDetails.filter((one) => one.by === facts.name && one.uuid === uuid);
    const atMs = refusals.map((refusal) => refusal.atMs);
    if (refusals.length > 0 && refusals.every(({ isWall }) => isWall))
      model.fail(`${publication} leaves out ${uuid} (${reason}), and none was answered when it was refused`);
    // A request that fails has had all its attempts.
    if (reason !== "unreadable" && Math.max(...atMs) - Math.min(...atMs) < APART_MS)
      model.fail(`${publication} leaves out ${uuid} (${reason}) because of one answer`);
  }
}

function isRefusal(reason: string): boolean {
  return reason === "gone" || reason === "forbidden" || reason === "unreadable";
}
