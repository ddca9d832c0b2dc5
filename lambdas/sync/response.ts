// The function's response to a run, an accept or a rollback, short enough to read in the console.

import type { HeldCommands } from "../job/run/compare/held-detail.ts";
import { countText } from "../job/run/record/count-text.ts";
import { leftOutCount, type RunLogEntry } from "../job/run/record/run-log.ts";
import type { RunResult } from "../job/run/record/run-result.ts";
import type { ConsoleLinks } from "./console-links.ts";
import { heldDecision } from "./held/held-decision.ts";

export interface ResponseFacts {
  readonly account: string;
  readonly database: string;
  readonly links: ConsoleLinks;
  /** Ten digits; undefined where nothing was published. */
  readonly publication: string | undefined;
  readonly commandsOf: (snapshotId: string) => HeldCommands;
}

export function responseOf(result: RunResult, facts: ResponseFacts): object {
  const { row, explanation, isRepeat } = result;
  const { account, publication, links } = facts;
  const { outcome, run_id, snapshot_id, reason, seconds, requests } = row;
  return {
    outcome,
    summary: summary(row),
    ...(reason === null ? {} : { reason }),
    ...(explanation === undefined ? {} : { explanation }),
    ...(isRepeat ? { note: "This run was finished before; this start did nothing." } : {}),
    account,
    run_id,
    snapshot_id,
    ...(publication === undefined ? {} : { publication }),
    counts: countsOf(row),
    requests,
    seconds,
    ...nextSteps(result, facts),
    links,
  };
}

function summary(row: RunLogEntry): string {
  const { outcome, events, added, changed, removed } = row;
  if (outcome === "HANDED_OVER") return "the run goes on in an execution of the state machine";
  if (events === null) return "no snapshot was made";
  const parts = [`${countText(events)} events`];
  if (added !== null)
    parts.push(
      `${countText(added)} added, ${countText(changed ?? 0)} changed, ${countText(removed ?? 0)} removed`,
    );
  if (row.repeated) parts.push(`${countText(row.repeated)} repeated in the list`);
  if (leftOutCount(row) > 0) parts.push(`${countText(leftOutCount(row))} left out`);
  return parts.join("; ");
}

function countsOf(row: RunLogEntry): object {
  const { listed, events, added, changed, removed, gone, forbidden, rejected, repeated } = row;
  return { listed, events, added, changed, removed, gone, forbidden, rejected, repeated };
}

/** What to paste next: a query, or the event that publishes what is held, after a look at what that would do. */
function nextSteps({ row, preview }: RunResult, facts: ResponseFacts): object {
  const { outcome, reason, snapshot_id } = row;
  const { account, database, publication } = facts;
  const from = (table: string): string =>
    `SELECT * FROM "${database}"."${table}" WHERE account = '${account}'`;
  if (outcome === "PUBLISHED") {
    const changes = `${from("event_changes")} AND publication = '${publication}'`;
    return {
      sql: [`${from("events")} LIMIT 10`, ...(publication === undefined ? [] : [changes])],
    };
  }
  if (outcome === "HELD" && snapshot_id !== null) {
    return heldDecision({ account, snapshotId: snapshot_id, reason, preview }, facts.commandsOf);
  }
  return {};
}
