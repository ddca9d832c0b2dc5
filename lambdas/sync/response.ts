// The function's response to a run, an accept or a rollback, short enough to read in the console.

import type { Context } from "aws-lambda";
import { shellWord } from "../job/errors/shown-text.ts";
import { type DiffPorts, diff } from "../job/run/compare/diff.ts";
import { type HeldCommands, ifNotAccepted, wasPinned } from "../job/run/compare/held-snapshots.ts";
import { ChangeSample, type Preview } from "../job/run/compare/preview.ts";
import type { Skipped } from "../job/run/lease/lease.ts";
import { countText } from "../job/run/record/count-text.ts";
import { leftOutCount, type RunLogEntry } from "../job/run/record/run-log.ts";
import type { RunResult } from "../job/run/record/run-result.ts";
import type { Status } from "../job/run/status.ts";
import { type Verified, verifiedCounts, verifiedText } from "../job/run/verify/verify.ts";
import type { FunctionEnvironment } from "./environment.ts";
import type { FunctionPorts } from "./function-ports.ts";

interface ResponseFacts {
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
    const isPinned = wasPinned({ reason, preview });
    return heldDecision({ account, snapshotId: snapshot_id, isPinned, preview }, facts.commandsOf);
  }
  return {};
}

/** The commands that decide on a held snapshot in AWS, and the inputs of the function that do the same in the console. */
interface HeldInputs {
  readonly accept: object;
  readonly diff: object;
}

function heldInputs(account: string, snapshotId: string): HeldInputs {
  return {
    accept: { action: "accept", account, snapshotId },
    diff: { action: "diff", account, snapshotId },
  };
}

/** They need a shell with credentials for the AWS account. */
export function heldInvocations(
  { region, functionName }: Pick<FunctionEnvironment, "region" | "functionName">,
  account: string,
  snapshotId: string,
): HeldCommands {
  const command = (input: object): string =>
    [
      "aws lambda invoke",
      ...["--region", region, "--function-name", `${functionName}:live`].map(shellWord),
      "--cli-read-timeout 900 --cli-binary-format raw-in-base64-out",
      `--payload ${shellWord(JSON.stringify(input))} /dev/stdout`,
    ].join(" ");
  const { accept, diff } = heldInputs(account, snapshotId);
  return { accept: command(accept), diff: command(diff) };
}

/** How a person decides on a held snapshot in AWS: what publishing it would do, what to paste, and what waiting means. */
interface Held {
  readonly account: string;
  readonly snapshotId: string;
  readonly isPinned: boolean;
  readonly preview?: Preview | undefined;
}

/** The events are for the console, the command is for a shell. */
function heldDecision(
  { account, snapshotId, isPinned, preview }: Held,
  commandsOf: (snapshotId: string) => HeldCommands,
): object {
  const { accept, diff } = heldInputs(account, snapshotId);
  return {
    ...(preview === undefined ? {} : { preview }),
    diff_event: diff,
    accept_event: accept,
    accept_command: commandsOf(snapshotId).accept,
    wait: ifNotAccepted(isPinned),
  };
}

/** The function's response to `status`. */
export function statusResponse(found: Status, commandsOf: (snapshotId: string) => HeldCommands): object {
  const { account, head, held } = found;
  const isPinned = head?.pinned === true;
  const decidable = held.map((one) => ({
    ...one,
    ...heldDecision({ account, isPinned, ...one }, commandsOf),
  }));
  return { ...found, held: decidable };
}

/** Of each kind: the response must stay far below what Lambda returns. */
const MOST_UUIDS = 100;

export async function diffResponse(ports: DiffPorts, account: string, snapshotId: string): Promise<object> {
  const sample = new ChangeSample(MOST_UUIDS);
  const { a, b } = await diff(ports, { a: snapshotId, b: undefined }, (change) => sample.add(change));
  return { account, a, b, ...sample.counts, uuids: sample.uuids };
}

/** A verification is no run, so it has no metrics of one. That the login works is over for its alarm. */
export function verifyResponse(
  ports: Pick<FunctionPorts, "log" | "metrics">,
  account: string,
  found: Verified | Skipped,
): object {
  if ("outcome" in found) return { account, ...found };
  const { head, sample, first } = found;
  const summary = verifiedText(found);
  ports.log.info(`verified ${sample} events: ${summary}`, { ...verifiedCounts(found) });
  if (sample > 0) ports.metrics(account, { LoginRefused: 0 });
  const changed_uuids = first.changed.length === 0 ? {} : { changed_uuids: first.changed };
  return {
    account,
    snapshot_id: head.snapshot_id,
    summary,
    ...verifiedCounts(found),
    ...changed_uuids,
  };
}

/** Links into the AWS console: the workgroup in Athena, the invocation's log, the execution that continues the run. */
interface ConsoleLinks {
  readonly athena: string;
  readonly log: string;
  readonly execution?: string;
}

interface ConsoleLinksOptions {
  readonly region: string;
  readonly workgroup: string;
  readonly context: Pick<Context, "logGroupName" | "logStreamName">;
  /** The ARN of the execution that a run was handed over to. */
  readonly execution?: string | undefined;
}

export function consoleLinks({ region, workgroup, context, execution }: ConsoleLinksOptions): ConsoleLinks {
  const { logGroupName, logStreamName } = context;
  const group = fragment(logGroupName);
  const stream = fragment(logStreamName);
  return {
    athena: `${consoleOf(region)}/athena/home?region=${region}#/workgroups/details/${encodeURIComponent(workgroup)}`,
    log: `${consoleOf(region)}/cloudwatch/home?region=${region}#logsV2:log-groups/log-group/${group}/log-events/${stream}`,
    ...(execution === undefined
      ? {}
      : {
          execution: `${consoleOf(region)}/states/home?region=${region}#/v2/executions/details/${execution}`,
        }),
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
