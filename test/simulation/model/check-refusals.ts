// What is left out: no event that readers see, or that is new, is missing because of one answer.

import type { ServedCall } from "../service/virtual-service.ts";
import type { Model } from "./model.ts";
import type { ProcessFacts } from "./process-facts.ts";
import type { SeenLeftOut, SeenPublication } from "./reader.ts";

/** Between two answers that count, at least. */
const APART_MS = 5_000;

/** An answer of the service, or of a gateway before it, that gives no details. */
export interface Refusal {
  readonly by: string;
  readonly uuid: string;
  readonly reason: "gone" | "forbidden";
  readonly atMs: number;
}

const REASONS: ReadonlyMap<number, Refusal["reason"]> = new Map([
  [403, "forbidden"],
  [404, "gone"],
  [410, "gone"],
]);

export function noteRefusal(model: Model, { by, request, status, atMs }: ServedCall): void {
  const reason = REASONS.get(status);
  const { uuid } = request;
  if (uuid !== undefined && reason) model.refusedDetails.push({ by, uuid, reason, atMs });
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

/** A run has published: without a person nothing is left out because of one answer. */
export function checkRefusals(model: Model, { publication, snapshot_id: runId }: SeenPublication): void {
  for (const { uuid, reason } of model.reader.leftOut(runId)) {
    const facts = model.processes.get(model.leftOutBy.get(`${runId} ${uuid}`) ?? "");
    const isOfToday = facts?.version === "today";
    if (!isOfToday || facts.knownLeftOut.has(uuid) || !isRefusal(reason)) continue;
    const atMs = model.refusedDetails
      .filter((refusal) => refusal.by === facts.name && refusal.uuid === uuid)
      .map((refusal) => refusal.atMs);
    if (Math.max(...atMs) - Math.min(...atMs) < APART_MS)
      model.fail(`${publication} leaves out ${uuid} (${reason}) because of one answer`);
  }
}

function isRefusal(reason: string): boolean {
  return reason === "gone" || reason === "forbidden";
}
