// What readers see: always a published snapshot that is whole, and its files stay for a day after it was visible.

import type { ClockFault } from "../plan/plan.ts";
import type { GluePartition } from "../warehouse/glue-tables.ts";
import { ACCOUNT, type World } from "../world.ts";
import type { Model } from "./model.ts";

const DAY_MS = 24 * 60 * 60_000;

/** `events` was moved to this snapshot; to none where it is empty. */
export function checkShown(model: Model): void {
  const { shown } = model.visibility;
  if (shown === "") return;
  const published = model.reader.log().filter(({ snapshot_id }) => snapshot_id === shown);
  const rows = model.reader.rows(shown);
  if (published.length === 0) model.fail(`readers see ${shown}, which is not published`);
  if (published.some(({ events }) => events !== rows?.length))
    model.fail(`readers see ${shown}, and events are missing`);
}

/** What `events` names in Glue is in the other two tables as well. */
export function checkPartitions(model: Model, { location, parameters }: GluePartition): void {
  const { glue } = model.world;
  const publication = parameters["publication"] ?? "";
  const { shown } = model.visibility;
  if (glue.current("event_changes", [ACCOUNT, publication]) === undefined)
    model.fail(`events shows ${publication}, which event_changes lacks`);
  if (glue.current("event_snapshots", [ACCOUNT, shown])?.location !== location)
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

/** A snapshot is retired: then it cannot be rolled back to any more. */
export function checkRetirement(model: Model, snapshotId: string): void {
  const isHead = model.reader.log().at(-1)?.snapshot_id === snapshotId;
  const wasHeadAtMs = model.headsUntilMs.get(snapshotId) ?? Number.NEGATIVE_INFINITY;
  if (isHead || wasHeadAtMs > aDayAgoMs(model.world))
    model.fail(`${snapshotId} is retired, and it was the head in the last day`);
}

/** Retention goes by the clocks of its processes: they are wrong by so much. */
function aDayAgoMs(world: World): number {
  return world.timeline.nowMs - Math.max(0, DAY_MS - clockErrorMs(world));
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
