// Rows that look at what is deployed, and change nothing.

import { DescribeAlarmsCommand, type MetricAlarm } from "@aws-sdk/client-cloudwatch";
import { DescribeLogGroupsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { DescribeRuleCommand, ListTargetsByRuleCommand } from "@aws-sdk/client-eventbridge";
import { GetPartitionsCommand, GetTableCommand, type Partition } from "@aws-sdk/client-glue";
import { GetPolicyCommand, GetPolicyVersionCommand, SimulateCustomPolicyCommand } from "@aws-sdk/client-iam";
import {
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetPublicAccessBlockCommand,
} from "@aws-sdk/client-s3";
import { GetTopicAttributesCommand, ListSubscriptionsByTopicCommand } from "@aws-sdk/client-sns";
import { z } from "zod";
import { layout, TABLES, type TableName } from "../../lambdas/job/storage/layout.ts";
import { isAllowed, parseStatements } from "../e2e/policy.ts";
import type { Deployed } from "./deployment.ts";
import { must, type Row, Skipped } from "./row.ts";

const VIEWS = ["events_typed", "event_history"];
/** Alarms that say nothing when they are raised, because a mail of its own says more. */
const TOLD_OTHERWISE = ["failed", "held", "login-refused"];

export const RESOURCES: readonly Row[] = [
  {
    name: "stack",
    does: "reads the stack and its resources",
    expects: "a deployment that ended well",
    remedy: "see the events of the stack in CloudFormation, and deploy again",
    see: async ({ deployed: { status, resources } }) => {
      const failed = resources.filter(({ ResourceStatus = "" }) => !ResourceStatus.endsWith("_COMPLETE"));
      must(status.endsWith("_COMPLETE") && !status.includes("ROLLBACK"), `the stack is in ${status}`);
      must(
        failed.length === 0,
        failed.map((one) => `${one.LogicalResourceId} ${one.ResourceStatus}`).join(", "),
      );
      return `${status}, ${resources.length} resources`;
    },
  },
  {
    name: "what a destroy keeps",
    does: "reads the deployed template",
    expects: "the bucket and the secrets, and nothing else",
    remedy:
      "deploy a version that is not changed by hand: without this, `cdk destroy` deletes data or credentials",
    see: async ({ deployed }) => {
      const kept = deployed.kept.toSorted();
      const buckets = deployed.all("AWS::S3::Bucket").map(() => "AWS::S3::Bucket");
      const secrets = deployed.all("AWS::SecretsManager::Secret").map(() => "AWS::SecretsManager::Secret");
      must(
        kept.join() === [...buckets, ...secrets].toSorted().join(),
        `kept are ${kept.join(", ") || "none"}`,
      );
      return `${buckets.length} bucket, ${secrets.length} secrets`;
    },
  },
  {
    name: "bucket",
    does: "reads encryption, versions, public access and lifecycle of the bucket",
    expects: "encrypted, with versions, closed to the public; only runs/ and athena-results/ expire",
    remedy: 'deploy again; for a bucket of your own see docs/cdk.md, "A bucket that exists"',
    see: async ({ deployed }) => {
      const { s3 } = deployed.clients;
      const Bucket = deployed.bucket;
      const { Status = "off" } = await s3.send(new GetBucketVersioningCommand({ Bucket }));
      must(Status === "Enabled", `versions are ${Status}`);
      const { PublicAccessBlockConfiguration: closed = {} } = await s3.send(
        new GetPublicAccessBlockCommand({ Bucket }),
      );
      must(Object.values(closed).filter((one) => one === true).length === 4, "public access is not blocked");
      const { ServerSideEncryptionConfiguration } = await s3.send(new GetBucketEncryptionCommand({ Bucket }));
      must(ServerSideEncryptionConfiguration?.Rules?.length === 1, "there is no encryption");
      const { Rules = [] } = await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
      const expiring = Rules.flatMap(({ Expiration, Filter, Prefix }) =>
        Expiration?.Days === undefined
          ? []
          : [`${Filter?.Prefix ?? Prefix ?? "everything"} after ${Expiration.Days} days`],
      ).toSorted();
      must(
        expiring.length === 2 && /^athena-results\/ .*runs\/ after 14 days$/.test(expiring.join()),
        `what expires is ${expiring.join(", ") || "nothing"}`,
      );
      return `encrypted, versions, closed; ${expiring.join(", ")}`;
    },
  },
  {
    name: "tables",
    does: "compares the tables, the views and the account's partitions with the files",
    expects:
      "five tables, two views; the partitions of the account at its files, events at the newest publication",
    remedy:
      "start a run or a check of the account, which brings the partitions up to its publications; a table or view that is missing comes back with a deployment",
    see: async ({ deployed, account }) => {
      const { glue } = deployed.clients;
      const DatabaseName = deployed.database;
      for (const Name of [...Object.keys(TABLES), ...VIEWS]) {
        await glue.send(new GetTableCommand({ DatabaseName, Name }));
      }
      const newest = await newestPublication(deployed, account);
      if (newest === undefined) return "5 tables, 2 views; nothing is published yet";
      await mustLieAt(deployed, "publications", account, layout(account).publications);
      await mustLieAt(deployed, "sync_runs", account, layout(account).runLogs);
      await mustLieAt(deployed, "events", account, layout(account).snapshot(newest.snapshot_id));
      return `5 tables, 2 views; events is publication ${newest.publication}`;
    },
  },
  {
    name: "analysts",
    does: "reads the policy for analysts, and decides on some calls with it",
    expects: "queries of the tables are allowed; other files, and every change, are refused",
    remedy: "deploy again: the policy was changed by hand",
    see: async ({ deployed }) => {
      const wrong = wrongDecisions(await analystPolicy(deployed), await analystCalls(deployed));
      must(wrong.length === 0, wrong.join(", "));
      return `${deployed.output("AnalystPolicyArn").split("/").at(-1)}`;
    },
  },
  {
    name: "analysts, by IAM",
    does: "lets IAM simulate the policy for analysts",
    expects: "the same decisions",
    remedy: "report the call: IAM decides otherwise than the tests assume",
    notOnEmulator: "it simulates no policies",
    see: async ({ deployed }) => {
      const policy = await analystPolicy(deployed);
      for (const { action, resources, isAllowed: expected } of await analystCalls(deployed)) {
        const { EvaluationResults = [] } = await deployed.clients.iam.send(
          new SimulateCustomPolicyCommand({
            PolicyInputList: [policy],
            ActionNames: [action],
            ResourceArns: [...resources],
          }),
        );
        const isAllowed = EvaluationResults.every(({ EvalDecision }) => EvalDecision === "allowed");
        must(
          isAllowed === expected,
          `${action} on ${resources.at(-1)} is ${isAllowed ? "allowed" : "refused"}`,
        );
      }
      return "the same decisions";
    },
  },
  {
    name: "alarms",
    does: "reads the alarms",
    expects:
      "each is on and tells the topic; none of the account is raised but stale before the first publication",
    remedy: "an alarm without its action comes back with a deployment; for one that is raised see its text",
    see: async ({ deployed, account }) => {
      const topic = deployed.all("AWS::SNS::Topic");
      const alarms = await alarmsOf(deployed);
      for (const { AlarmName = "", ActionsEnabled, AlarmActions = [], OKActions = [] } of alarms) {
        must(ActionsEnabled === true, `the actions of ${AlarmName} are off`);
        const isTold = TOLD_OTHERWISE.some((each) => AlarmName.endsWith(`-${each}`));
        const actions = isTold ? [OKActions] : [AlarmActions, OKActions];
        must(
          actions.every(
            (list) => list.length > 0 && (topic.length === 0 || list.some((one) => topic.includes(one))),
          ),
          `${AlarmName} has no action`,
        );
      }
      must(alarms.length === deployed.all("AWS::CloudWatch::Alarm").length, `${alarms.length} alarms`);
      const hasPublished = await deployed.hasPublished(account);
      const raised = alarms.filter(
        ({ AlarmName = "", StateValue }) =>
          StateValue === "ALARM" && (hasPublished || !AlarmName.endsWith(`-${account}-stale`)),
      );
      must(raised.length === 0, `raised: ${raised.map(({ AlarmName }) => AlarmName).join(", ")}`);
      return `${alarms.length} alarms with their actions`;
    },
  },
  {
    name: "topic",
    does: "reads the topic of the alarms",
    expects: "encrypted with a key; a confirmed address",
    remedy: "open the mail of AWS Notifications and confirm it; without `alarmEmail` subscribe to the topic",
    see: async ({ deployed }) => {
      const [TopicArn] = deployed.all("AWS::SNS::Topic");
      if (TopicArn === undefined) throw new Skipped("the topic is one of yours");
      const { Attributes = {} } = await deployed.clients.sns.send(
        new GetTopicAttributesCommand({ TopicArn }),
      );
      must((Attributes["KmsMasterKeyId"] ?? "") !== "", "it is not encrypted");
      const { Subscriptions = [] } = await deployed.clients.sns.send(
        new ListSubscriptionsByTopicCommand({ TopicArn }),
      );
      const pending = Subscriptions.filter(({ SubscriptionArn = "" }) => !SubscriptionArn.startsWith("arn:"));
      must(pending.length === 0, `not confirmed: ${pending.map(({ Endpoint }) => Endpoint).join(", ")}`);
      must(Subscriptions.length > 0, "it tells no one");
      return `encrypted; ${Subscriptions.length} confirmed`;
    },
  },
  {
    name: "rules",
    does: "reads the rules on the event bus",
    expects: "each is enabled and has a target",
    remedy: "deploy again: a rule was changed by hand, so mails or ended executions are not told",
    see: async ({ deployed }) => {
      const rules = deployed.all("AWS::Events::Rule");
      for (const Name of rules.map((one) => one.split("/").at(-1) ?? one)) {
        const { State } = await deployed.clients.events.send(new DescribeRuleCommand({ Name }));
        must(State === "ENABLED", `${Name} is ${State}`);
        const { Targets = [] } = await deployed.clients.events.send(
          new ListTargetsByRuleCommand({ Rule: Name }),
        );
        must(Targets.length > 0, `${Name} has no target`);
      }
      return `${rules.length} rules`;
    },
  },
  {
    name: "log",
    does: "reads how long the function's log is kept",
    expects: "a number of days",
    remedy: "set `logRetentionDays` and deploy; without an end the log costs more each month",
    see: async ({ deployed }) => {
      const logGroupNamePrefix = deployed.output("LogGroupName");
      const { logGroups = [] } = await deployed.clients.logs.send(
        new DescribeLogGroupsCommand({ logGroupNamePrefix }),
      );
      const days = logGroups.find(({ logGroupName }) => logGroupName === logGroupNamePrefix)?.retentionInDays;
      must(days !== undefined, "the log is kept for ever");
      return `${days} days`;
    },
  },
];

const publicationSchema = z.object({ publication: z.string(), snapshot_id: z.string() });

async function newestPublication(deployed: Deployed, account: string) {
  const Key = (await deployed.keys(layout(account).publications)).at(-1);
  if (Key === undefined) return undefined;
  const { Body } = await deployed.clients.s3.send(new GetObjectCommand({ Bucket: deployed.bucket, Key }));
  return publicationSchema.parse(JSON.parse((await Body?.transformToString()) ?? ""));
}

/** The account's partition of a table with one for each account. */
async function mustLieAt(
  deployed: Deployed,
  table: TableName,
  account: string,
  folder: string,
): Promise<void> {
  const { Partitions = [] } = await deployed.clients.glue.send(
    new GetPartitionsCommand({ DatabaseName: deployed.database, TableName: table }),
  );
  const isOfAccount = ({ Values = [] }: Partition): boolean => Values[0] === account;
  const location = Partitions.find(isOfAccount)?.StorageDescriptor?.Location ?? "nothing";
  must(
    location.replace(/\/?$/, "/") === `s3://${deployed.bucket}/${folder}`,
    `the partition of ${table} shows ${location} instead of ${folder}`,
  );
}

async function alarmsOf(deployed: Deployed): Promise<readonly MetricAlarm[]> {
  const AlarmNames = [...deployed.all("AWS::CloudWatch::Alarm")];
  const found: MetricAlarm[] = [];
  for (let at = 0; at < AlarmNames.length; at += 100) {
    const { MetricAlarms = [] } = await deployed.clients.cloudWatch.send(
      new DescribeAlarmsCommand({ AlarmNames: AlarmNames.slice(at, at + 100), MaxRecords: 100 }),
    );
    found.push(...MetricAlarms);
  }
  return found;
}

async function analystPolicy(deployed: Deployed): Promise<string> {
  const { iam } = deployed.clients;
  const PolicyArn = deployed.output("AnalystPolicyArn");
  const { Policy } = await iam.send(new GetPolicyCommand({ PolicyArn }));
  const VersionId = Policy?.DefaultVersionId;
  const { PolicyVersion } = await iam.send(new GetPolicyVersionCommand({ PolicyArn, VersionId }));
  return decodeURIComponent(PolicyVersion?.Document ?? "");
}

interface Call {
  readonly action: string;
  readonly resources: readonly string[];
  readonly isAllowed: boolean;
}

async function analystCalls(deployed: Deployed): Promise<readonly Call[]> {
  const [, partition = "", , , id = ""] = deployed.output("AnalystPolicyArn").split(":");
  const here = `${await deployed.clients.glue.config.region()}:${id}`;
  const glue = `arn:${partition}:glue:${here}`;
  const table = [
    `${glue}:catalog`,
    `${glue}:database/${deployed.database}`,
    `${glue}:table/${deployed.database}/events`,
  ];
  const workgroup = [`arn:${partition}:athena:${here}:workgroup/${deployed.output("Step4Query")}`];
  const file = (key: string) => [`arn:${partition}:s3:::${deployed.bucket}/${key}`];
  return [
    { action: "athena:StartQueryExecution", resources: workgroup, isAllowed: true },
    { action: "athena:GetQueryResults", resources: workgroup, isAllowed: true },
    { action: "glue:GetTable", resources: table, isAllowed: true },
    { action: "glue:GetPartitions", resources: table, isAllowed: true },
    { action: "s3:GetObject", resources: file("snapshots/uk/part-00000.ndjson.gz"), isAllowed: true },
    { action: "glue:UpdateTable", resources: table, isAllowed: false },
    { action: "s3:GetObject", resources: file("accounts/uk/lease.json"), isAllowed: false },
    { action: "s3:DeleteObject", resources: file("snapshots/uk/part-00000.ndjson.gz"), isAllowed: false },
  ];
}

function wrongDecisions(policy: string, calls: readonly Call[]): readonly string[] {
  const { Statement } = z.object({ Statement: z.unknown() }).parse(JSON.parse(policy));
  const statements = parseStatements(Statement);
  return calls
    .filter((call) => isAllowed(statements, { ...call, conditions: {} }) !== call.isAllowed)
    .map(
      ({ action, resources, isAllowed: expected }) =>
        `${action} on ${resources.at(-1)} is ${expected ? "refused" : "allowed"}`,
    );
}
