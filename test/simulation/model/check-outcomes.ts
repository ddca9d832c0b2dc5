// How starts and runs end: never at odds with the publication log, and without an upload of their own that is open.

import type { Ended } from "../process/do-command.ts";
import { hasDamage } from "./check-damage.ts";
import { isCutOff } from "./check-removal.ts";
import type { Model } from "./model.ts";

/** A retry can fix these, so they finish no run. */
const RETRYABLE: ReadonlySet<string> = new Set([
  "SERVICE_UNAVAILABLE",
  "THROTTLED",
  "STORE_FAILED",
  "CATALOG_FAILED",
  "INTERRUPTED",
]);

const ENDS_NO_RUN: ReadonlySet<string> = new Set(["SKIPPED", "DRY_RUN", "HANDED_OVER"]);

/** `outcome.json` of a run was written. */
export function checkOutcome(model: Model, runId: string): void {
  const row = model.reader.outcomeOf(runId);
  agree(model, runId, row?.outcome ?? "nothing", "its outcome file");
  if (RETRYABLE.has(row?.error_code ?? "")) model.fail(`the run ${runId} is finished by ${row?.error_code}`);
}

/** A process has ended by itself. */
export function checkEnd(model: Model, process: string, { defect, result }: Ended): void {
  if (defect !== undefined) {
    model.fail(`${process} ends with a defect: ${String(defect)}`);
    return;
  }
  if (result === undefined) return;
  const { row, error } = result;
  if ((row.outcome === "FAILED") !== (error !== undefined)) model.fail(`${process} says ${row.outcome}`);
  const { run_id: runId, trigger } = row;
  if (trigger === "accept" || trigger === "rollback") {
    const mayNotKnow = error?.isRetryable === true;
    if (!mayNotKnow && !agrees(model, trigger, runId, row.outcome))
      model.fail(`${process} ends ${row.outcome}, and the log says otherwise`);
    return;
  }
  if (error?.isRetryable || ENDS_NO_RUN.has(row.outcome)) return;
  agree(model, runId, row.outcome, `the end of ${process}`);
  const isShown = row.outcome !== "PUBLISHED" || result.isRepeat || hasDamage(model) || readersSeeHead(model);
  if (!isShown && model.processes.get(process)?.wasAlone)
    model.fail(`${process} has published, and readers see ${model.visibility.shown}`);
}

/** On a laptop a table without rows names no files. */
export function readersSeeHead({ reader, visibility, world }: Model): boolean {
  const head = reader.log().at(-1);
  const isWithoutFiles = head?.events === 0 && world.plan.setting.warehouse === "directory";
  return visibility.shown === (isWithoutFiles ? "" : (head?.snapshot_id ?? ""));
}

function agree(model: Model, runId: string, outcome: string, where: string): void {
  if (!agrees(model, "run", runId, outcome) && !(outcome === "HELD" && hasAcceptOfAnother(model, runId)))
    model.fail(`${where} says that the run ${runId} is ${outcome}, and the log says otherwise`);
  const isGone = model.reader.rows(runId) === undefined || isCutOff(model, runId);
  if (outcome === "HELD" && !isGone && !model.reader.isHeld(runId))
    model.fail(`${where} says that ${runId} is held, and it has no mark`);
}

/** Between the decisions of two processes of one run, so that one of them publishes although the other one did not. */
function hasAcceptOfAnother({ reader }: Model, runId: string): boolean {
  return reader.log().some(({ action, snapshot_id }) => action === "accept" && snapshot_id !== runId);
}

/** What was published before the account was removed was published, and is so no more. */
function agrees(model: Model, action: string, runId: string, outcome: string): boolean {
  if (outcome === "PUBLISHED") return model.published.has(`${action} ${runId}`);
  return !model.reader.log().some((each) => each.run_id === runId && each.action === action);
}

/**
 * An upload stays open where S3 refused to abort it, its maker never learned of it, or had a request about it under way
 * when another one failed: the bucket's rule aborts that.
 */
export function checkUploads(model: Model, process: string): void {
  const { world, account } = model;
  const left = world.uploads.open.find(
    ({ key, by, isKnown, isGivenUp, underWay }) =>
      by === process && isKnown && !isGivenUp && underWay === 0 && key.split("/")[1] === account.name,
  );
  if (left) model.fail(`${process} ends, and leaves the upload of ${left.key} open`);
}
