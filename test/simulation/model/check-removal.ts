// A removal: one entry of the log, then the tables, then files; nothing of before counts after it.

import type { ObjectChange } from "../warehouse/objects.ts";
import type { Model } from "./model.ts";

/** The entry was made. */
export function checkRemoval(model: Model, by: string): void {
  const facts = model.processes.get(by);
  if (facts?.start.command.name !== "remove")
    model.fail(`${by} removes the account, and was to do something else`);
  if (facts?.leaseFromMs === undefined) model.fail(`${by} removes the account without the lease`);
  model.removedAtMs = model.world.timeline.nowMs;
  model.heads.end();
  model.outcomesAtMs.clear();
  model.shownAt = undefined;
  model.accepted = {};
}

/** A process that was stopped meanwhile may still write for a run that a removal has cut off: nothing of it counts. */
export function isCutOff(
  { plannedAt, reader, removedAtMs = Number.NEGATIVE_INFINITY, runsFromMs }: Model,
  runId: string,
): boolean {
  const place = plannedAt.get(runId);
  const isBefore = place !== undefined && place < (reader.removal()?.publication ?? "");
  return isBefore || (runsFromMs.get(runId) ?? 0) < removedAtMs;
}

/** Whether the file may go because its account is removed. What is deleted then was there before, and no reader sees it. */
export function isRemoved(model: Model, { key, after, by }: ObjectChange, id: string): boolean {
  if (after !== undefined) return false;
  if (model.processes.get(by)?.start.command.name !== "remove") return isTakenBack(model, key);
  const { removedAtMs, reader, visibility, world } = model;
  if (removedAtMs === undefined) {
    model.fail(`${by} deletes ${key} before the log says that the account is removed`);
    return true;
  }
  const [folder = "", , file = ""] = key.split("/");
  const isWork = folder === "snapshots" || folder === "runs";
  if (
    isWork &&
    (model.runsFromMs.get(id) ?? 0) > removedAtMs &&
    !reader.entries().some(({ run_id }) => run_id === id)
  )
    model.fail(`${by} deletes ${key} of a run that began after the removal`);
  const removal = reader.removal();
  if (folder === "publications" && file >= `${removal?.publication}.ndjson`)
    model.fail(`${by} deletes ${key}, which the removal does not cut off`);
  // In Glue a process that was stopped may put partitions back.
  const isStrict = world.plan.setting.warehouse === "directory" || model.processes.get(by)?.wasAlone === true;
  if (folder === "snapshots" && isStrict && visibility.shows(id))
    model.fail(`${by} deletes ${key}, which readers see`);
  return true;
}

/** A process that was stopped while the account was removed deletes what it has written since. */
function isTakenBack({ plannedAt, reader, visibility }: Model, key: string): boolean {
  const [runId] = /(?<=\/)\d{4}-[^/]+Z(?=\/)/.exec(key) ?? [];
  const isBefore =
    runId !== undefined && (plannedAt.get(runId) ?? "") < (reader.removal()?.publication ?? "");
  return isBefore && !visibility.shows(runId);
}
