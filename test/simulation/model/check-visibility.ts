// What readers see: always a published snapshot that is whole, and its files stay for a day after it was visible.

import type { ClockFault } from "../plan/plan.ts";
import type { World } from "../world.ts";
import type { Model } from "./model.ts";

const DAY_MS = 24 * 60 * 60_000;

/** `events` was moved to this snapshot; to none where it is empty. */
export function checkShown(model: Model, snapshotId: string): void {
  if (snapshotId === "") return;
  const published = model.reader.log().filter(({ snapshot_id }) => snapshot_id === snapshotId);
  const rows = model.reader.rows(snapshotId);
  if (published.length === 0) model.fail(`readers see ${snapshotId}, which is not published`);
  if (published.some(({ events }) => events !== rows?.length))
    model.fail(`readers see ${snapshotId}, and events are missing`);
}

/** A file of a snapshot is gone. */
export function checkDeletion(model: Model, snapshotId: string, file: string): void {
  if (file === "_retired.json" || file === "_held.json") return;
  const { world, shown, reader } = model;
  if (reader.log().at(-1)?.snapshot_id === snapshotId)
    model.fail(`${file} of the head ${snapshotId} is deleted`);
  // Retention goes by the clocks of its processes: they are wrong by so much.
  const sinceMs = world.timeline.nowMs - Math.max(0, DAY_MS - clockErrorMs(world));
  if (shown.some((each) => each.snapshotId === snapshotId && each.untilMs >= sinceMs))
    model.fail(`${file} of ${snapshotId} is deleted, and readers saw it in the last day`);
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
