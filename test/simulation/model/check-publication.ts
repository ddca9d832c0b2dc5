// A publication: numbered without gaps, what readers then see, what changed, and whether it was allowed.

import type { ObjectChange } from "../warehouse/objects.ts";
import { checkRefusals, noteKnown } from "./check-answers.ts";
import { checkRemoval } from "./check-removal.ts";
import { checkBase } from "./check-restart.ts";
import { checkColumns } from "./check-snapshot.ts";
import { clockErrorMs, TOLERANCE_MS } from "./check-visibility.ts";
import type { Model } from "./model.ts";
import { type SeenChange, type SeenPublication, type SeenRow, wrongIn } from "./reader.ts";

export function checkPublication(model: Model, { key, by }: ObjectChange): void {
  const entries = model.reader.entries();
  const removal = model.reader.removal();
  const entry = entries.find(({ publication }) => key.endsWith(`/${publication}.ndjson`));
  // A process that was stopped meanwhile may take a number that a removal has cleared: it does not count.
  if (entry && removal && entry.publication < removal.publication) return;
  const last = entries.at(-2)?.publication ?? "0";
  const number = String(Number(last) + 1).padStart(10, "0");
  if (entry === undefined || entry !== entries.at(-1) || entry.publication !== number) {
    model.fail(`${key} is not the next publication, ${number}`);
    return;
  }
  if (entry.action === "remove") checkRemoval(model, by);
  else checkCounting(model, key, entry, by);
}

function checkCounting(model: Model, key: string, own: SeenPublication, by: string): void {
  const log = model.reader.log();
  const removal = model.reader.removal();
  if (removal && clockErrorMs(model.world) === 0 && own.snapshot_id <= removal.run_id)
    model.fail(`${key} names a snapshot that is older than the removal ${removal.publication}`);
  if (removal && (model.plannedAt.get(own.snapshot_id) ?? "") < removal.publication)
    model.fail(`${key} names a snapshot that was planned before the removal ${removal.publication}`);
  model.published.add(`${own.action} ${own.run_id}`);
  const rows = model.reader.rows(own.snapshot_id);
  if (rows === undefined) {
    model.fail(`${key} names a snapshot that is not there`);
    return;
  }
  model.heads.begin(own.snapshot_id, rows);
  if (rows.length !== own.events)
    model.fail(`${key} says ${own.events} events, and there are ${rows.length}`);
  checkBase(model, own, log.slice(0, -1), by);
  checkColumns(model, own.snapshot_id);
  checkChanges(model, own, rows);
  if (own.action === "run") checkRun(model, own, log.slice(0, -1), rows);
  else checkDecision(model, own, log.slice(0, -1), by);
  for (const facts of model.processes.values()) if (!facts.isOver) noteKnown(model, facts);
}

/** The rows of the base, with the changes, are the rows now. */
function checkChanges(model: Model, own: SeenPublication, rows: readonly SeenRow[]): void {
  const { publication, base_snapshot_id: base, added, changed, removed } = own;
  const changes = model.reader.changes(own);
  const wrong = wrongIn(base === null ? [] : (model.reader.rows(base) ?? []), changes, rows);
  if (wrong) model.fail(`the changes of ${publication} ${wrong}`);
  const count = (kind: SeenChange["change"]): number =>
    changes.filter(({ change }) => change === kind).length;
  if (added !== count("added") || changed !== count("changed") || removed !== count("removed"))
    model.fail(`the changes of ${publication} are not as many as it says`);
}

/** A run: once, later than the head, not over a pin, and only what the guard lets pass. */
function checkRun(
  model: Model,
  own: SeenPublication,
  earlier: readonly SeenPublication[],
  rows: readonly SeenRow[],
): void {
  const { run_id: runId, snapshot_id: snapshotId, publication } = own;
  const before = earlier.at(-1);
  if (snapshotId !== runId) model.fail(`${publication}: the run ${runId} publishes ${snapshotId}`);
  if (own.pinned) model.fail(`${publication}: a run sets a pin`);
  if (earlier.some(({ snapshot_id }) => snapshot_id === snapshotId))
    model.fail(`${publication}: the run ${runId} publishes again`);
  if (before?.pinned) model.fail(`${publication}: a run publishes over a pin`);
  if (before && before.snapshot_id >= snapshotId && !mayReplace(model, before, runId))
    model.fail(`${publication}: a run replaces a later head`);
  if (model.reader.isHeld(snapshotId)) model.fail(`${publication}: a run publishes what is held`);
  const outcome = model.reader.outcomeOf(runId);
  if (outcome !== undefined) model.fail(`${publication}: the run ${runId} has ended as ${outcome.outcome}`);

  checkRefusals(model, own);
  const missing = model.reader.leftOut(snapshotId).length;
  const listed = own.events + missing;
  const { maxDropPercent, maxGrowthPercent, maxMissingPercent, require } = model.world.plan.setting;
  const mayBeMissing = Math.max(5, (listed * maxMissingPercent) / 100);
  // Unreadable events are news to hold it for, or readers do not see them already.
  const { unreadable: _, ...shares } = missingShares(model, own);
  const unaccepted = Object.entries(shares).reduce(
    (sum, [reason, share]) =>
      sum + Math.max(0, share * listed - Math.floor((model.accepted[reason] ?? 0) * listed + 1e-9)),
    0,
  );
  const lacksOne = ({ event }: SeenRow): boolean => {
    const fields = new Map<string, unknown>(Object.entries(JSON.parse(event)));
    return require.some((pointer) => (fields.get(pointer.slice(1)) ?? null) === null);
  };
  const seenMissing = new Set(before ? model.reader.leftOut(before.snapshot_id).map(({ uuid }) => uuid) : []);
  const suspicious = {
    "an event that cannot be read": model.reader
      .leftOut(snapshotId)
      .some(({ uuid, reason }) => reason === "unreadable" && !seenMissing.has(uuid)),
    "no events": own.events === 0,
    "an unstable list": (model.lists.get(snapshotId)?.unstable ?? 0) > mayBeMissing,
    "too few against the head":
      before !== undefined && own.events * 100 < before.events * (100 - maxDropPercent),
    "too few of the listed": unaccepted * 100 > listed * 20 + 1e-6,
    "too many against the head":
      before !== undefined &&
      maxGrowthPercent !== undefined &&
      own.events * 100 > before.events * (100 + maxGrowthPercent),
    "too many missing": unaccepted > mayBeMissing + 1e-6,
    "too many incomplete": rows.filter(lacksOne).length > mayBeMissing,
  };
  for (const [what, isSo] of Object.entries(suspicious)) {
    if (isSo) model.fail(`${publication}: a run publishes what must be held: ${what}`);
  }
}

/** A head that a clock has named in the future is no later than what was planned when it was there. */
function mayReplace(model: Model, { publication, snapshot_id: id }: SeenPublication, runId: string): boolean {
  const namedAtMs = Date.parse(id.replace(/T(\d\d)-(\d\d)-/, "T$1:$2:"));
  const plannedAtMs = model.plannedAtMs.get(runId) ?? 0;
  const isOfFuture = namedAtMs > plannedAtMs + TOLERANCE_MS - clockErrorMs(model.world);
  return isOfFuture && publication <= (model.plannedAt.get(runId) ?? "");
}

/** By reason, the listed events that have no row, of one. */
function missingShares(
  model: Model,
  { events, snapshot_id }: SeenPublication,
): Readonly<Record<string, number>> {
  const all = model.reader.leftOut(snapshot_id);
  const byReason = Object.entries(Object.groupBy(all, ({ reason }) => reason));
  return Object.fromEntries(byReason.map(([reason, of = []]) => [reason, of.length / (events + all.length)]));
}

/** A person who judges a held snapshot relies on what its mark says. */
function checkPreview(model: Model, own: SeenPublication): void {
  const preview = model.reader.previewOf(own.snapshot_id);
  if (preview === undefined || preview.base_snapshot_id !== own.base_snapshot_id) return;
  const { added, changed, removed } = preview;
  if (added === null) return;
  if (added !== own.added || changed !== own.changed || removed !== own.removed)
    model.fail(`${own.publication}: the publication does not do what the mark of its snapshot says`);
}

/** A person's accept or rollback. */
function checkDecision(
  model: Model,
  own: SeenPublication,
  earlier: readonly SeenPublication[],
  by: string,
): void {
  const { publication, action, snapshot_id: snapshotId, pinned } = own;
  const facts = model.processes.get(by);
  const command = facts?.start.command;
  const before = earlier.at(-1);
  const wasPublished = earlier.some(({ snapshot_id }) => snapshot_id === snapshotId);
  if (command?.name !== action) {
    model.fail(`${publication}: ${by} was to do something else`);
    return;
  }
  if (command.name === "rollback") {
    if (!wasPublished) model.fail(`${publication}: a rollback to what was never published`);
    if (pinned !== command.pin) model.fail(`${publication}: a rollback with the wrong pin`);
  }
  if ((model.retiredAtMs.get(snapshotId) ?? Number.POSITIVE_INFINITY) < (facts?.fromMs ?? 0))
    model.fail(`${publication}: ${action} publishes what was retired before`);
  checkPreview(model, own);
  model.accepted = missingShares(model, own);
  if (command.name === "accept") {
    if (!wasPublished && !model.reader.isHeld(snapshotId))
      model.fail(`${publication}: an accept of what was neither held nor published`);
    if (pinned) model.fail(`${publication}: an accept sets a pin`);
    const isLater = before && before.snapshot_id > snapshotId && !mayReplace(model, before, snapshotId);
    if (!command.force && isLater)
      model.fail(`${publication}: an accept without force replaces a later head`);
  }
}
