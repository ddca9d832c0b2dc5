// Whether what readers see is later than a run, or its account was removed since it was planned.

import { isFuture } from "../../runtime/clock.ts";
import type { Plan } from "../../snapshot/staging/plan.ts";
import { runInstant } from "../../storage/layout.ts";
import { placeOf, removalOf } from "../../storage/log-mark.ts";
import type { Publication, Removal } from "../../storage/publication.ts";
import type { LogEnd } from "../../storage/publication-log.ts";
import type { AccountStore } from "../../storage/store.ts";
import type { RunEnd } from "../record/run-result.ts";

/** A run or its snapshot. */
export interface Planned {
  readonly id: string;
  /** The number where the log ended when it was planned; undefined where that is not known. */
  readonly place: string | undefined;
}

/**
 * Whether a head supersedes what is planned. One that was there then is no later, whatever clock has named it; of one that
 * came since, or may have, the name decides.
 */
export function isLater(
  { publication, snapshot_id }: Pick<Publication, "publication" | "snapshot_id">,
  { id, place }: Planned,
): boolean {
  const wasThere = place !== undefined && publication <= place;
  return !wasThere && snapshot_id >= id;
}

/** The end of a run that is not later than what readers see. Undefined for any other. */
export function supersededBy(head: Publication | undefined, planned: Planned): RunEnd | undefined {
  if (head === undefined || !isLater(head, planned)) return undefined;
  return superseded(`Readers already see the snapshot ${head.snapshot_id}`, planned.id);
}

/**
 * The same for a run that has no plan yet, also of a removal: it may have been stopped, or be delivered again. What lies in
 * the future supersedes nothing: a clock was ahead.
 */
export function supersededBeforePlan(
  { head, removal }: Pick<LogEnd, "head" | "removal">,
  id: string,
  nowMs: number,
): RunEnd | undefined {
  const name = head?.snapshot_id ?? removal?.run_id ?? "";
  if (isFuture(runInstant(name) ?? 0, nowMs)) return undefined;
  if (removal && removal.run_id >= id) return removedBy(removal, id);
  return supersededBy(head, { id, place: undefined });
}

/** The same for a run that has a plan, also where its account was removed since. */
export async function supersededPlan(
  store: AccountStore,
  head: Publication | undefined,
  { run_id: id, log_end: mark }: Plan["header"],
): Promise<RunEnd | undefined> {
  const removal = await removalOf(store, id, mark);
  if (removal) return removedBy(removal, id);
  return supersededBy(head, { id, place: await placeOf(store, mark) });
}

/** The end of a run of before the removal: what that may still have to delete is never published again. */
export function removedBy({ run_id: name }: Removal, runId: string): RunEnd {
  return superseded(`The account was removed at ${name}`, runId);
}

function superseded(what: string, runId: string): RunEnd {
  return {
    outcome: "SUPERSEDED",
    reason: "LATER_HEAD",
    explanation: `${what}, which is later than this run (${runId}).`,
  };
}
