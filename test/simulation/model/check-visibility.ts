// What readers see: always a published snapshot that is whole, and its files stay for a day after it was visible.

import type { ClockFault } from "../plan/plan.ts";
import type { GluePartition } from "../warehouse/glue.ts";
import type { World } from "../world.ts";
import { hasDamage } from "./check-damage.ts";
import { isCutOff } from "./check-removal.ts";
import type { Model, ProcessFacts } from "./model.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Clocks may differ so much. */
export const TOLERANCE_MS = 10 * 60_000;

/** `events` was moved to this snapshot; to none where it is empty. */
export function checkShown(model: Model, by: string): void {
  const { shown } = model.visibility;
  if (beganBeforeRemoval(model, by)) {
    const facts = model.processes.get(by);
    if (facts) facts.hasPutBack ||= isUnpublished(model);
    return;
  }
  if (model.world.plan.setting.warehouse === "directory" && !hasDamage(model)) checkOrder(model);
  if (shown === "") return;
  if (isUnpublished(model)) model.fail(`readers see ${shown}, which is not published`);
  const published = model.reader.log().filter(({ snapshot_id }) => snapshot_id === shown);
  const rows = model.reader.rows(shown);
  if (published.some(({ events }) => events !== rows?.length))
    model.fail(`readers see ${shown}, and events are missing`);
}

/** The process may have read the log before the account was removed, for whatever account it works. */
export function beganBeforeRemoval({ world, removedAtMs = 0 }: Model, by: string): boolean {
  return (
    Math.min(...world.accounts.flatMap(({ model }) => model.processes.get(by)?.fromMs ?? [])) < removedAtMs
  );
}

function isUnpublished({ visibility: { shown }, reader }: Model): boolean {
  return shown !== "" && !reader.log().some(({ snapshot_id }) => snapshot_id === shown);
}

/**
 * A process has ended, and nothing stopped its look at the log. What it had put back after a removal its last look at
 * the log has taken out again, or the removal is still at work and takes it out.
 */
export function checkTakenOut(model: Model, { name, hasPutBack }: ProcessFacts): void {
  const others = [...model.processes.values()].filter((each) => each.name !== name);
  const isLeftToOthers = others.some(
    (other) => other.hasPutBack || (other.start.command.name === "remove" && !other.isOver),
  );
  if (hasPutBack && !isLeftToOthers && !hasDamage(model) && isUnpublished(model))
    model.fail(`${name} has put back what was removed, and readers see ${model.visibility.shown}`);
}

/** Readers see one publication after the other. Glue has no conditions: there a slow process may go back for a moment. */
function checkOrder(model: Model): void {
  const { shown } = model.visibility;
  const log = model.reader.log();
  if (model.shownAt === undefined && shown === "") return;
  const from = model.shownAt ?? 0;
  // A table without rows names no files.
  const isShown = log.map(
    ({ snapshot_id, events }) => snapshot_id === shown || (shown === "" && events === 0),
  );
  const at = isShown.indexOf(true, from);
  if (at === -1) model.fail(`readers see ${shown || "nothing"} again, after ${log[from]?.snapshot_id}`);
  else model.shownAt = at;
}

/** What `events` names in Glue is in the other two tables as well. */
export function checkPartitions(model: Model, { location, parameters }: GluePartition): void {
  const { glue } = model.world;
  const { name } = model.account;
  const publication = parameters["publication"] ?? "";
  const { shown } = model.visibility;
  const has = model.reader.log().find((each) => each.publication === publication);
  if (has && has.added + has.changed + has.removed > 0 && !glue.current("event_changes", [name, publication]))
    model.fail(`events shows ${publication}, which event_changes lacks`);
  if (glue.current("event_snapshots", [name, shown])?.location !== location)
    model.fail(`events shows ${shown}, which event_snapshots lacks`);
}

/** A file of a snapshot is gone. */
export function checkDeletion(model: Model, snapshotId: string, file: string): void {
  if (file === "_retired.json" || file === "_held.json") return;
  const { world, visibility, reader } = model;
  if (reader.log().at(-1)?.snapshot_id === snapshotId)
    model.fail(`${file} of the head ${snapshotId} is deleted`);
  if (visibility.wasSeenSince(snapshotId, aDayAgoMs(world)))
    model.fail(`${file} of ${snapshotId} is deleted, and readers saw it in the last day`);
}

/**
 * A snapshot is retired: then it cannot be rolled back to any more. A person may retire all but the head, a run what was
 * not the head for a day. What becomes the head meanwhile loses its mark again, or keeps its files for another day.
 */
export function checkRetirement(model: Model, snapshotId: string, by: string): void {
  const { heads, processes, retiredAtMs, world } = model;
  const { nowMs } = world.timeline;
  if (!retiredAtMs.has(snapshotId)) retiredAtMs.set(snapshotId, nowMs);
  if (isCutOff(model, snapshotId)) return;
  const { fromMs = nowMs, start } = processes.get(by) ?? {};
  if (heads.hadBefore(snapshotId, fromMs, start?.command.name === "retire" ? nowMs : aDayAgoMs(world)))
    model.fail(`${by} retires ${snapshotId}, which was the head too short a time ago`);
}

/** Retention goes by the clocks of its processes: they are wrong by so much. */
function aDayAgoMs(world: World): number {
  return world.timeline.nowMs - Math.max(0, DAY_MS - clockErrorMs(world));
}

/** Clocks run, and those of two computers differ as much as they may. The platform's processes have one clock. */
export function areClocksAsPromised(world: World): boolean {
  const { items } = world.plan;
  const faults = items.filter((item): item is ClockFault => item.kind === "clock");
  const isSet = ({ start, jump, standsStill }: ClockFault): boolean =>
    jump !== undefined ||
    standsStill ||
    items.some((item) => item.kind === "start" && item.id === start && item.by !== "laptop");
  return clockErrorMs(world) <= TOLERANCE_MS && !faults.some(isSet);
}

/** How far the clocks of two processes are apart at most. */
export function clockErrorMs({ plan }: World): number {
  const faults = plan.items.filter((item): item is ClockFault => item.kind === "clock");
  const errors = faults.flatMap(({ offsetMs, jump, standsStill }) => [
    offsetMs,
    offsetMs + (jump?.byMs ?? 0),
    ...(standsStill ? [offsetMs - DAY_MS] : []),
  ]);
  return Math.max(0, ...errors) - Math.min(0, ...errors);
}
