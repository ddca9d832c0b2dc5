// How starts and runs end: never at odds with the publication log.

import type { Ended } from "../process/do-command.ts";
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
    const isPublished = model.reader
      .log()
      .some(({ run_id, action }) => run_id === runId && action === trigger);
    const mayNotKnow = error?.isRetryable === true;
    if (!mayNotKnow && isPublished !== (row.outcome === "PUBLISHED"))
      model.fail(`${process} ends ${row.outcome}, and the log says otherwise`);
    return;
  }
  if (error?.isRetryable || ENDS_NO_RUN.has(row.outcome)) return;
  agree(model, runId, row.outcome, `the end of ${process}`);
}

function agree(model: Model, runId: string, outcome: string, where: string): void {
  const isPublished = model.reader.log().some(({ run_id, action }) => run_id === runId && action === "run");
  if (isPublished !== (outcome === "PUBLISHED"))
    model.fail(`${where} says that the run ${runId} is ${outcome}, and the log says otherwise`);
  const isGone = model.reader.rows(runId) === undefined;
  if (outcome === "HELD" && !isGone && !model.reader.isHeld(runId))
    model.fail(`${where} says that ${runId} is held, and it has no mark`);
}
