// A restart: what a publication is compared with, and which changes count. What lacks a file is in no table, and `check`
// says so.

import type { Ended } from "../process/do-command.ts";
import { hasDamage, isDamaged } from "./check-damage.ts";
import type { Model, ProcessFacts } from "./model.ts";
import type { SeenPublication } from "./reader.ts";

/** A run has planned its work. */
export function noteRestart(model: Model, runId: string, by: string): void {
  if (model.processes.get(by)?.version === "today" && isTold(model, by)) model.restarts.add(runId);
}

/** Whether the process is told to restart. A schedule cannot tell, and a turn of an execution knows only the plan. */
function isTold({ processes }: Model, by: string): boolean {
  const start = processes.get(by)?.start;
  if (start === undefined || start.by === "schedule" || by.includes("-turn")) return false;
  return "overDamaged" in start.command && start.command.overDamaged === true;
}

/** The head, or nothing where a person says so: then all is added. An earlier version compares with an older one, too. */
export function checkBase(
  model: Model,
  own: SeenPublication,
  earlier: readonly SeenPublication[],
  by: string,
): void {
  const { publication, snapshot_id: snapshotId, base_snapshot_id: base } = own;
  const head = earlier.at(-1)?.snapshot_id ?? null;
  if (isDamaged(model, snapshotId)) model.fail(`${publication} publishes ${snapshotId}, which is damaged`);
  if (base !== null && isDamaged(model, base))
    model.fail(`${publication} is compared with ${base}, which is damaged`);
  if (base === null && (own.added !== own.events || own.changed + own.removed > 0))
    model.fail(`${publication} restarts, and not all of its events are added`);
  const version = model.processes.get(by)?.version ?? "today";
  if (version !== "today") {
    if (base !== null && !earlier.some(({ snapshot_id }) => snapshot_id === base))
      model.fail(`the base of ${publication} is ${base}, which was never published`);
    return;
  }
  const isRestart = own.action === "run" ? model.restarts.has(own.run_id) : isTold(model, by);
  const expected = isRestart ? null : head;
  if (base !== expected) model.fail(`the base of ${publication} is ${base}, and not ${expected}`);
}

/** The publications whose changes count: from the last one that is not compared with the one before it. */
function sinceRestart({ reader }: Model): readonly SeenPublication[] {
  const log = reader.log();
  const last = log.findLastIndex(
    ({ base_snapshot_id }, index) => index > 0 && base_snapshot_id !== log[index - 1]?.snapshot_id,
  );
  return log.slice(Math.max(0, last));
}

const folderOf = ({ account }: Model, { publication, snapshot_id }: SeenPublication): string =>
  `changes/${account.name}/${publication}/${snapshot_id}/`;

/** The parts that were there and are missing, where that shows: another one is there, or none is. */
function lacksPart(model: Model, publication: SeenPublication): boolean {
  const { objects } = model.world;
  const parts = (keys: readonly string[]): readonly string[] => keys.filter((key) => key.includes("/part-"));
  const now = parts(objects.keys(folderOf(model, publication)));
  const written = parts(objects.keysAsWritten(folderOf(model, publication)));
  return (
    now.length < written.length && written.slice(0, Math.max(1, now.length)).some((key) => !now.includes(key))
  );
}

/** A process has published, or has found what it had published: then the tables have all changes that are whole, and no others. */
export function checkChangesShown(
  model: Model,
  { wasAlone, version }: ProcessFacts,
  { result }: Ended,
): void {
  if (!wasAlone || version !== "today" || result?.error || result?.row.outcome !== "PUBLISHED") return;
  const { world, account, reader } = model;
  const views = Buffer.from(world.objects.get("views.sql")?.bytes ?? []).toString();
  const isBucket = world.plan.setting.warehouse === "bucket";
  // Old changes are looked at by the first snapshot of a day; until then damage may be shown, and what is restored may not.
  const own = result?.row.snapshot_id ?? "";
  const ofDay = world.objects.keys(`snapshots/${account.name}/${own.slice(0, 10)}`);
  const isFirst =
    result?.row.trigger !== "accept" &&
    result?.row.trigger !== "rollback" &&
    ofDay.every((key) => key.includes(own));
  const isDamaged = world.plan.items.some(({ kind }) => kind === "damage");
  const log = reader.log();
  for (const each of isDamaged && !isFirst ? log.slice(-1) : log) {
    const { publication, added, changed, removed } = each;
    const folder = folderOf(model, each);
    const hasFile = world.objects.keys(folder).length > 0;
    const isShown = isBucket
      ? world.glue.current("event_changes", [account.name, publication]) !== undefined && hasFile
      : views.includes(`/${folder}part-`);
    const isWhole = added + changed + removed > 0 && !lacksPart(model, each);
    if (isShown && !isWhole && hasFile && added + changed + removed > 0)
      model.fail(`the tables show the changes of ${publication}, which lack a part`);
    if (!isShown && isWhole && !hasDamage(model))
      model.fail(`the tables do not show the changes of ${publication}`);
  }
}

/** `check` fails where changes that count lack a part, and names both remedies; others alone do not make it fail. */
export function checkSnapshotCheck(model: Model, { version, start }: ProcessFacts, { checks }: Ended): void {
  const found = checks?.find(({ name }) => name === "snapshot");
  if (found === undefined || version !== "today" || found.code === "STORE_FAILED") return;
  const counting = sinceRestart(model);
  const isMissing = counting.some((each) => lacksPart(model, each));
  if (isMissing && found.ok) model.fail("check does not miss changes that count");
  // A damaged log is restored first: what counts is unknown without it.
  const log = `publications/${model.account.name}/`;
  const isLogWhole = !model.world.objects.damaged.some((key) => key.startsWith(log));
  const restart = found.remedy?.find((part) => typeof part !== "string" && "decision" in part);
  if (isMissing && isLogWhole && found.code === "STORE_CORRUPT" && restart === undefined)
    model.fail(`check names no restart for missing changes: ${JSON.stringify(found.remedy)}`);
  const folders = counting.map((each) => folderOf(model, each));
  const isPast = (key: string): boolean =>
    key.startsWith(`changes/${model.account.name}/`) && !folders.some((folder) => key.startsWith(folder));
  if (found.code === "STORE_CORRUPT" && [...model.world.objects.everDamaged].every(isPast))
    model.fail(`${start.id}: check fails over changes that count no more: ${JSON.stringify(found.remedy)}`);
}
