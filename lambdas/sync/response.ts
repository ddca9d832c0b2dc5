// The function's response to a run, an accept or a rollback, short enough to read in the console.

import type { Context } from "aws-lambda";
import { type Undo, undoOf } from "../job/commands/decisions.ts";
import { isRefusal } from "../job/errors/sync-error.ts";
import type { Held } from "../job/run/publish/held-snapshots.ts";
import { ifNotAccepted, wasPinned } from "../job/run/record/held-mark.ts";
import { leftOutCount, type RunLogEntry } from "../job/run/record/run-log.ts";
import type { RunResult } from "../job/run/record/run-result.ts";
import { countText } from "../job/run/record/texts.ts";
import { explained, heldCommands } from "../words/ends.ts";
import { type Style, sayError } from "../words/style.ts";
import type { FunctionEnvironment } from "./environment.ts";
import type { Invocation } from "./function-ports.ts";
import { reportResult } from "./report-result.ts";
import { doubtInAws, invokeCommand } from "./style-in-aws.ts";

/** Reports the result. Throws the error of one that failed. */
export async function runResponse(invocation: Invocation, result: RunResult): Promise<object> {
  const { ports, host, style, context } = invocation;
  const { row, error, isRepeat } = result;
  const { account } = host.store;
  const publication = await reportResult(result, invocation);
  // Lambda's own retry of a start whose login was refused. If it failed too, the start would end in the failure queue
  // and raise a second alarm for one cause.
  if (isRepeat && isRefusal(error)) {
    const { run_id } = row;
    const explanation = error && sayError(error, style);
    return { outcome: "SKIPPED", reason: "LOGIN_REFUSED", explanation, account, run_id };
  }
  if (error) throw error;
  const undo = await undoOf(host.store, result);
  const facts = { account, publication, undo, environment: ports.environment, style, context };
  return responseOf(result, { ...facts, ...doubtInAws(result.doubt, invocation) });
}

interface ResponseFacts {
  readonly account: string;
  /** Ten digits; undefined where nothing was published. */
  readonly publication: string | undefined;
  /** Of an accept or a rollback. */
  readonly undo?: Undo | undefined;
  /** Why the list may be a part only. */
  readonly doubt?: string | undefined;
  readonly environment: Pick<FunctionEnvironment, "region" | "functionName" | "workgroup" | "database">;
  readonly style: Style;
  readonly context: Pick<Context, "logGroupName" | "logStreamName">;
}

export function responseOf(result: RunResult, facts: ResponseFacts): object {
  const { row, isRepeat, differing } = result;
  const { account, publication, doubt, style } = facts;
  const explanation = explained(result, style);
  const { outcome, run_id, snapshot_id, reason, seconds, requests } = row;
  const { listed, events, added, changed, removed, gone, forbidden, rejected, repeated } = row;
  return {
    outcome,
    summary: summary(row),
    ...(reason === null ? {} : { reason }),
    ...(explanation === undefined ? {} : { explanation }),
    ...(doubt === undefined ? {} : { doubt }),
    ...(isRepeat ? { note: "This run was finished before; this start did nothing." } : {}),
    account,
    run_id,
    snapshot_id,
    ...(publication === undefined ? {} : { publication }),
    counts: { listed, events, added, changed, removed, gone, forbidden, rejected, repeated },
    requests,
    seconds,
    ...(differing === undefined ? {} : { rows: differing }),
    ...nextSteps(result, facts),
    links: consoleLinks(facts, result.handedOver?.execution),
  };
}

function summary(row: RunLogEntry): string {
  const { outcome, events, added, changed, removed } = row;
  if (outcome === "HANDED_OVER") return "the run continues in an execution of the state machine";
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

/** What to paste next: a query, or the event that publishes what is held, after a look at what that would do. */
function nextSteps({ row, preview }: RunResult, facts: ResponseFacts): object {
  const { outcome, reason, snapshot_id: snapshotId } = row;
  const { account, environment, publication } = facts;
  const from = (table: string): string =>
    `SELECT * FROM "${environment.database}"."${table}" WHERE account = '${account}'`;
  if (outcome === "PUBLISHED") {
    const changes = `${from("event_changes")} AND publication = '${publication}'`;
    return {
      ...undoDecision(facts),
      sql: [`${from("events")} LIMIT 10`, ...(publication === undefined ? [] : [changes])],
    };
  }
  if (outcome === "HELD" && snapshotId !== null) {
    const isPinned = wasPinned({ reason, preview });
    return heldDecision(facts.style, account, { snapshotId, isPinned, preview });
  }
  return {};
}

function undoDecision({ undo, account, environment }: ResponseFacts): object {
  if (undo === undefined) return {};
  const { snapshotId, pin } = undo;
  const input = { action: "rollback", account, snapshotId, ...(pin ? {} : { pin }) };
  return { undo_event: input, undo_command: invokeCommand(environment, input) };
}

/**
 * How a person decides on a held snapshot in AWS: what publishing it would do, what to paste, and what waiting means. The
 * events are for the console, the command is for a shell.
 */
export function heldDecision(style: Style, account: string, { snapshotId, isPinned, preview }: Held): object {
  return {
    ...(preview === undefined ? {} : { preview }),
    diff_event: { action: "diff", account, snapshotId },
    accept_event: { action: "accept", account, snapshotId },
    accept_command: heldCommands(snapshotId, style).accept,
    wait: ifNotAccepted(isPinned),
  };
}

/** Into the AWS console: the workgroup in Athena, the invocation's log, the execution that continues the run. */
function consoleLinks({ environment, context }: ResponseFacts, execution: string | undefined): object {
  const { region, workgroup } = environment;
  const home = (service: string): string => `${consoleOf(region)}/${service}/home?region=${region}`;
  const log = `${fragment(context.logGroupName)}/log-events/${fragment(context.logStreamName)}`;
  return {
    athena: `${home("athena")}#/workgroups/details/${encodeURIComponent(workgroup)}`,
    log: `${home("cloudwatch")}#logsV2:log-groups/log-group/${log}`,
    ...(execution === undefined
      ? {}
      : { execution: `${home("states")}#/v2/executions/details/${execution}` }),
  };
}

function consoleOf(region: string): string {
  if (region.startsWith("cn-")) return `https://${region}.console.amazonaws.cn`;
  if (region.startsWith("us-gov-")) return `https://${region}.console.amazonaws-us-gov.com`;
  return `https://${region}.console.aws.amazon.com`;
}

/** A name behind the "#" of the CloudWatch console: percent-encoded twice, with "$" for each "%" of the second time. */
function fragment(name: string): string {
  return encodeURIComponent(encodeURIComponent(name)).replaceAll("%", "$");
}
