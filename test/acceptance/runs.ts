// Rows that start the function, its state machine and queries, and those that change something for a moment.

import { z } from "zod";
import { executionName, parseExecutionName } from "../../lambdas/job/run/hand-over/executions.ts";
import { EVENT_SOURCE } from "../../lambdas/job/run/record/run-event.ts";
import { layout, TABLES } from "../../lambdas/job/storage/layout.ts";
import { MAILS, type Mail, mailLine } from "../../lambdas/sync/telemetry.ts";
import { type Deployed, readHead } from "./deployment.ts";
import { must, type Row, Skipped, UNDO, until } from "./row.ts";

/** Saved queries that make a table are not run. */
const MAKES_A_TABLE = /^CREATE TABLE /m;
/** A schedule is at least a minute away, and starts are exact to the minute. */
const AHEAD_MS = 2 * 60_000;

/** Hand-overs of a run count from 1, and an execution's name takes nine digits. */
const MOST_NUMBERS = 1e9;

const entrySchema = z.object({
  outcome: z.string(),
  reason: z.string().nullable().optional(),
  snapshot_id: z.string().nullable(),
});
const checksSchema = z.array(z.object({ name: z.string(), ok: z.boolean(), remedy: z.string().nullable() }));

export const RUNS: readonly Row[] = [
  {
    name: "status",
    does: "asks the function for the status of the account",
    expects: "an answer",
    remedy: "see the log of the function (the output Step3Watch)",
    see: async ({ deployed, account }) => {
      const answer = await deployed.invoke({ action: "status", account });
      must(answer["account"] === account, JSON.stringify(answer).slice(0, 200));
      return "an answer";
    },
  },
  {
    name: "check",
    does: "lets the function check credentials, service, bucket and tables",
    expects: "everything is well",
    remedy: "the remedy of the check that failed; an empty secret is filled with the output Step1FillSecret",
    touchesAccount: true,
    see: async ({ deployed, account }) => {
      const answer = await deployed.invoke({ action: "check", account });
      const checks = checksSchema.parse(answer["checks"] ?? []);
      const failed = checks.filter(({ ok }) => !ok).map(({ name, remedy }) => `${name}: ${remedy}`);
      must(answer["ok"] === true, failed.join("; "));
      return `${checks.length} checks`;
    },
  },
  {
    name: "dry run",
    does: "runs with ten events, without publishing",
    expects: "DRY_RUN, and no publication",
    remedy: "see the error, and docs/errors.md",
    touchesAccount: true,
    see: async ({ deployed, account }) => {
      const before = await deployed.keys(layout(account).publications);
      const answer = await deployed.invoke(dryRunOf(account));
      must(answer["outcome"] === "DRY_RUN", said(answer));
      const after = await deployed.keys(layout(account).publications);
      must(after.length === before.length, "the dry run has published");
      return said(answer);
    },
  },
  {
    name: "second start",
    does: "starts two dry runs at the same time",
    expects: "one works, the other ends as SKIPPED",
    remedy: "report it: two starts of an account must not work at once",
    notOnEmulator: "its runs end before a second start begins",
    touchesAccount: true,
    see: async ({ deployed, account }) => {
      // Long enough for a cold start of the second.
      const starts = [dryRunOf(account, 100), dryRunOf(account, 100)];
      const answers = await Promise.all(starts.map((input) => deployed.invoke(input)));
      const outcomes = answers.map(({ outcome }) => String(outcome)).toSorted();
      must(outcomes.join() === "DRY_RUN,SKIPPED", outcomes.join(" and "));
      return outcomes.join(" and ");
    },
  },
  {
    name: "run",
    does: "starts a run as the output Step3Run does, and waits for its end",
    expects: "PUBLISHED",
    remedy: "see the log (the output Step3Watch); a snapshot that is held is accepted as its mail says",
    touchesAccount: true,
    see: async ({ deployed, account }) => {
      const end = await run(deployed, account);
      must(end.outcome === "PUBLISHED", said(end));
      return end.outcome;
    },
  },
  {
    name: "hold and accept",
    does: "pins the account by a rollback to what readers see, runs, and accepts what is held",
    expects: "HELD as PINNED, then PUBLISHED, and no pin",
    remedy: "see the log (the output Step3Watch), and docs/errors.md; --restore ends the pin",
    touchesAccount: true,
    see: async ({ deployed, account, journal }) => {
      const { clients, functionName } = deployed;
      const head = await readHead(clients, functionName, account);
      if (head === null) throw new Skipped("nothing is published");
      if (head.pinned) throw new Skipped(`${account} is pinned; accept a snapshot first`);
      return journal.during({ kind: "pin", functionName, account }, async () => {
        const snapshotId = head.snapshot_id;
        const pinned = await deployed.invoke({ action: "rollback", account, snapshotId });
        must(pinned["outcome"] === "PUBLISHED", `rollback: ${said(pinned)}`);
        const held = await run(deployed, account);
        must(held.outcome === "HELD" && held.reason === "PINNED", `run: ${said(held)}`);
        const accepted = await deployed.invoke({ action: "accept", account, snapshotId: held.snapshot_id });
        must(accepted["outcome"] === "PUBLISHED", `accept: ${said(accepted)}`);
        must(!(await readHead(clients, functionName, account))?.pinned, "the account is still pinned");
        return "HELD as PINNED, then PUBLISHED";
      });
    },
  },
  {
    name: "queries",
    does: `runs each saved query that makes no table, and reads each table and view, in the workgroup`,
    expects: "each succeeds",
    remedy: 'see the query in the history of the workgroup; without permission, see docs/aws.md, "Analysts"',
    notOnEmulator: "it has no engine for queries",
    see: async ({ deployed }) => {
      const queries = [...(await savedQueries(deployed)), ...readsOf(deployed)];
      let bytes = 0;
      for (const query of queries) bytes += await succeed(deployed, query);
      return `${queries.length} queries, ${bytes} bytes scanned`;
    },
  },
  {
    name: "no overwriting",
    does: "writes an object below snapshots/ without a condition",
    expects: "the bucket refuses it",
    remedy: `the bucket's policy was changed: ${UNDO}. For a bucket of your own see docs/cdk.md`,
    notOnEmulator: "it ignores the conditions of a bucket's policy",
    see: async ({ deployed, journal }) => {
      const { s3 } = deployed.clients;
      const [bucket, key] = [deployed.bucket, "snapshots/overwriting-test"];
      const refused = await journal.during({ kind: "object", bucket, key }, () =>
        s3.putObject({ Bucket: bucket, Key: key, Body: "test" }).then(
          () => undefined,
          (error: unknown) => error,
        ),
      );
      must(refused !== undefined, "the bucket took it; it is deleted again");
      must(refused instanceof Error && refused.name === "AccessDenied", String(refused));
      return "AccessDenied";
    },
  },
  {
    name: "alarm rings",
    does: "sets the alarm `throttled` of the account to ALARM, and back",
    expects: "it is raised, and a mail comes",
    remedy: "see the topic's subscriptions, its policy and its key",
    touchesAccount: true,
    see: async ({ deployed, account, journal, ask }) => {
      const { cloudWatch } = deployed.clients;
      const name = `${deployed.output("Step4Query")}-${account}-throttled`;
      const stateOf = async () => {
        const { MetricAlarms = [] } = await cloudWatch.describeAlarms({ AlarmNames: [name] });
        return MetricAlarms[0]?.StateValue;
      };
      const state = (await stateOf()) ?? "INSUFFICIENT_DATA";
      return journal.during({ kind: "alarm", name, state }, async () => {
        const raised = {
          AlarmName: name,
          StateValue: "ALARM",
          StateReason: "The acceptance tries it.",
        } as const;
        await cloudWatch.setAlarmState(raised);
        must((await stateOf()) === "ALARM", `it is ${await stateOf()}`);
        return mailed(await ask(`Has a mail about ${name} come?`), "raised");
      });
    },
  },
  {
    name: "event on the bus",
    does: "sends the event that a snapshot is held, as a test",
    expects: "the bus takes it, and a mail comes",
    remedy: "see the rule for held snapshots, the failure queue, the topic's policy and its key",
    touchesAccount: true,
    see: async ({ deployed, account, ask }) => {
      const test = "This is a test of the acceptance: nothing is held.";
      const lines = Array.from({ length: MAILS["Snapshot Held"].lines }, (_, index) => [
        mailLine(index),
        test,
      ]);
      const mail: Mail = { section: "held", ...Object.fromEntries(lines) };
      const detail = { account, workgroup: deployed.output("Step4Query"), mail };
      const { FailedEntryCount } = await deployed.clients.events.putEvents({
        Entries: [{ Source: EVENT_SOURCE, DetailType: "Snapshot Held", Detail: JSON.stringify(detail) }],
      });
      must(FailedEntryCount === 0, "the bus refused it");
      return mailed(await ask("Has a mail come that says it is a test of the acceptance?"), "taken");
    },
  },
  {
    name: "schedule",
    does: "makes a schedule of its own beside the account's, for one dry run in two minutes",
    expects: "the function runs",
    remedy: "see the failure queue, the role of the schedules, and the schedule's state in EventBridge",
    notOnEmulator: "its schedules start nothing",
    touchesAccount: true,
    see: async ({ deployed, account, journal }) => {
      const { logs, scheduler } = deployed.clients;
      const group = deployed.output("Step4Query");
      const given = await scheduleOf(deployed, account);
      const startTime = Date.now();
      const name = `acceptance-${startTime}`;
      const at = new Date(startTime + AHEAD_MS).toISOString().slice(0, 19);
      return journal.during({ kind: "schedule", group, name }, async () => {
        await scheduler.createSchedule({
          GroupName: group,
          Name: name,
          ScheduleExpression: `at(${at})`,
          FlexibleTimeWindow: { Mode: "OFF" },
          Target: { ...given, Input: JSON.stringify(dryRunOf(account)) },
        });
        return until("the scheduled dry run", 15, async () => {
          const { events = [] } = await logs.filterLogEvents({
            logGroupName: deployed.output("LogGroupName"),
            startTime,
            filterPattern: '"ended as DRY_RUN"',
          });
          return events.length > 0 ? `started at ${at}` : undefined;
        });
      });
    },
  },
  {
    name: "hand-over",
    does: "starts an execution of the state machine for a run that is finished; its events are sent again, without a mail",
    expects: "it ends at once, as succeeded, and changes nothing",
    remedy:
      'see the rows "state machine", "function" and "rights", and the execution in the console; runs longer than an invocation fail until this works. The alarm "execution" is over after a day',
    see: async ({ deployed, account, journal }) => {
      const { stepFunctions } = deployed.clients;
      const keys = layout(account);
      const finished = (await deployed.keys(keys.runs)).filter((key) => key.endsWith("/outcome.json"));
      const runId = finished.at(-1)?.split("/").at(-2);
      if (runId === undefined)
        throw new Skipped("no run of the account is finished, or its files have expired");
      const attempts = () => deployed.keys(`${keys.runLogs}${runId}-`);
      const before = await attempts();
      const name = executionName({ account, runId, n: Math.floor(Date.now() / 1_000) % MOST_NUMBERS });
      must(parseExecutionName(name) !== undefined, `${name} names no execution`);
      const stateMachineArn = deployed.output("StateMachineArn");
      const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${name}`;
      return journal.during({ kind: "execution", arn: executionArn }, async () => {
        const input = JSON.stringify({ account, runId, turn: 0 });
        await stepFunctions.startExecution({ stateMachineArn, name, input });
        const end = await until("the end of the execution", 5, async () => {
          const execution = await stepFunctions.describeExecution({ executionArn });
          return execution.status === "RUNNING" ? undefined : execution;
        });
        must(end.status === "SUCCEEDED", [end.status, end.error, end.cause].filter(Boolean).join(": "));
        must((await attempts()).length === before.length, "the run was continued, although it was finished");
        return `${end.status} for the run ${runId}`;
      });
    },
  },
];

const dryRunOf = (account: string, limit = 10): object => ({ action: "run", account, dryRun: true, limit });

/** Starts a run as the output Step3Run does. Returns its end. */
async function run(deployed: Deployed, account: string) {
  const before = new Set(await deployed.keys(layout(account).runLogs));
  await deployed.start({ action: "run", account });
  return until("the end of the run", 300, () => newEnd(deployed, account, before));
}

const said = ({ outcome, reason, summary }: Readonly<Record<string, unknown>>): string =>
  [outcome, reason, summary].filter((one) => typeof one === "string").join(", ");

function mailed(came: boolean | undefined, saw: string): string {
  must(came !== false, "no mail has come");
  return came === undefined ? `${saw}; no person to ask for the mail` : `${saw}, and a mail came`;
}

/** Of the run that began after `before`; undefined while it works. */
async function newEnd(deployed: Deployed, account: string, before: ReadonlySet<string>) {
  for (const Key of await deployed.keys(layout(account).runLogs)) {
    if (before.has(Key)) continue;
    const entry = entrySchema.parse(await deployed.read(Key));
    if (entry.outcome !== "HANDED_OVER") return entry;
  }
  return undefined;
}

/** The target of the account's schedule. */
async function scheduleOf(deployed: Deployed, account: string) {
  const GroupName = deployed.output("Step4Query");
  for (const Name of deployed.ofType("AWS::Scheduler::Schedule")) {
    const { Target } = await deployed.clients.scheduler.getSchedule({ GroupName, Name });
    if (Target?.Input?.includes(`"account":"${account}"`)) return Target;
  }
  throw new Skipped("the group of the schedules is one of yours");
}

async function savedQueries(deployed: Deployed): Promise<readonly string[]> {
  const { athena } = deployed.clients;
  const WorkGroup = deployed.output("Step4Query");
  const { NamedQueryIds } = await athena.listNamedQueries({ WorkGroup, MaxResults: 50 });
  const { NamedQueries = [] } = await athena.batchGetNamedQuery({ NamedQueryIds });
  return NamedQueries.flatMap(({ QueryString = "" }) =>
    MAKES_A_TABLE.test(QueryString) ? [] : [QueryString],
  );
}

function readsOf({ database }: Deployed): readonly string[] {
  const tables = [...Object.keys(TABLES), "events_typed", "event_history"];
  return tables.map((table) => `SELECT * FROM "${database}"."${table}" LIMIT 10`);
}

/** Returns the bytes that it scanned. */
async function succeed(deployed: Deployed, QueryString: string): Promise<number> {
  const { athena } = deployed.clients;
  const { QueryExecutionId } = await athena.startQueryExecution({
    WorkGroup: deployed.output("Step4Query"),
    QueryString,
    QueryExecutionContext: { Database: deployed.database },
  });
  const { Status, Statistics } = await until("a query", 30, async () => {
    const { QueryExecution } = await athena.getQueryExecution({ QueryExecutionId });
    return ["SUCCEEDED", "FAILED", "CANCELLED"].includes(QueryExecution?.Status?.State ?? "")
      ? QueryExecution
      : undefined;
  });
  must(Status?.State === "SUCCEEDED", `${QueryString.slice(0, 60)}: ${Status?.StateChangeReason}`);
  return Statistics?.DataScannedInBytes ?? 0;
}
