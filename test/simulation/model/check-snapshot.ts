// A snapshot, when it is complete: each event is what the service had at some instant of the run.

import { checkFiles } from "./check-files.ts";
import { wasRefused } from "./check-refusals.ts";
import type { Model } from "./model.ts";

export function checkSnapshot(model: Model, snapshotId: string): void {
  const { world } = model;
  const { timeline } = world;
  const { content } = model.account.service;
  const fromMs = model.runsFromMs.get(snapshotId);
  if (fromMs === undefined) {
    model.fail(`no process has made the run ${snapshotId}`);
    return;
  }
  const toMs = timeline.nowMs;
  const rows = model.reader.rows(snapshotId) ?? [];
  const leftOut = model.reader.leftOut(snapshotId);
  const named = new Set([...rows, ...leftOut].map(({ uuid }) => uuid));
  if (named.size !== rows.length + leftOut.length) model.fail(`${snapshotId} names an event twice`);
  if (rows.some(({ uuid }, index) => uuid <= (rows[index - 1]?.uuid ?? "")))
    model.fail(`the rows of ${snapshotId} are not sorted`);
  const lifted = model.reader.manifest(snapshotId)?.lifted ?? [];
  for (const row of rows) {
    const { uuid, event, event_date: date, scope } = row;
    if (!content.wasEver(uuid, fromMs, toMs, ({ text, refusal }) => text === event && !refusal))
      model.fail(`${snapshotId} has ${uuid} as the service never had it in that time`);
    if (!content.wasEver(uuid, fromMs, toMs, ({ listing, isListed }) => listing === row.listing && isListed))
      model.fail(`${snapshotId} has ${uuid} as the service never listed it in that time`);
    const areRight = content.wasEver(uuid, fromMs, toMs, ({ text, columns }) => {
      const has = (member: string, value: unknown): boolean => value === (columns[member] ?? null);
      const hasLifted = lifted.every(({ name, pointer }) => has(pointer.slice(1), row[name]));
      return text === event && has("date", date) && has("scope", scope) && hasLifted;
    });
    if (!areRight) model.fail(`${snapshotId} has columns of ${uuid} that its event has not`);
  }
  for (const { uuid, reason } of leftOut) {
    if (reason === "oversize") continue; // only the network makes a body too large here
    if (!wasRefused(model, uuid, (refusal) => refusal.reason === reason && refusal.atMs >= fromMs))
      model.fail(`${snapshotId} leaves out ${uuid} (${reason}), which was not refused`);
  }
  // Pages are numbered: where entries go away between two requests, others move to a page that was read before.
  const { pageSize, isShuffled } = world.plan.setting;
  const mayHaveMoved = pageSize !== undefined && (isShuffled || content.hasChanged(fromMs, toMs));
  const listed = model.lists.get(snapshotId)?.uuids;
  if (listed && listed.symmetricDifference(named).size > 0)
    model.fail(`${snapshotId} does not have what the service listed`);
  checkFiles(model, snapshotId);
  for (const uuid of content.uuids) {
    const wasListed = content.wasEver(uuid, fromMs, toMs, ({ isListed }) => isListed);
    const wasUnlisted = content.wasEver(uuid, fromMs, toMs, ({ isListed }) => !isListed);
    if (named.has(uuid) && !wasListed) model.fail(`${snapshotId} has ${uuid}, which was never listed`);
    if (!named.has(uuid) && !wasUnlisted && !mayHaveMoved)
      model.fail(`${snapshotId} lacks ${uuid}, which was always listed`);
  }
}
