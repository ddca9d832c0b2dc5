// Requests to the service: only with the lease, not for a run that has ended, and after the catalog was brought up to date.

import { hasDamage } from "./check-damage.ts";
import { readersSeeHead } from "./check-outcomes.ts";
import type { Model } from "./model.ts";
import type { ProcessFacts } from "./process-facts.ts";

export function checkRequest(model: Model, facts: ProcessFacts): void {
  const { name, start, runId, leaseFromMs } = facts;
  // A check goes on where the store fails: then no run can work either.
  const mayLackLease = start.command.name === "check" && model.isTroubled(start.id);
  if (leaseFromMs === undefined) {
    if (!mayLackLease) model.fail(`${name} sends a request without the lease`);
    return;
  }
  const endedAtMs = runId === undefined ? undefined : model.outcomesAtMs.get(runId);
  if (endedAtMs !== undefined && endedAtMs < leaseFromMs)
    model.fail(`${name} sends a request for the run ${runId}, which had ended`);
  if (!facts.hasSent) checkCatalog(model, facts);
}

/** Before its first request a run shows readers what is published. */
function checkCatalog(model: Model, { name, start, wasAlone }: ProcessFacts): void {
  if (start.command.name !== "run" || !wasAlone || hasDamage(model) || readersSeeHead(model)) return;
  model.fail(`${name} logs in before readers see the head, and they see ${model.visibility.shown}`);
}
