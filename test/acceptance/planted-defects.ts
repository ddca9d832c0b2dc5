// What a person may break in a deployment without anything failing, each planted into one on the emulator, with the row of
// the acceptance that must find it.

import type { LifecycleRule } from "@aws-sdk/client-s3";
import { z } from "zod";
import type { DeployedAccounts } from "../e2e/deployed-accounts.ts";
import type { EmulatedStack } from "./emulated-stack.ts";

interface World {
  readonly deployed: DeployedAccounts<"uk">;
  readonly stack: EmulatedStack;
}

export interface PlantedDefect {
  readonly what: string;
  /** The name of the row. */
  readonly row: string;
  /** What the row must say of it. */
  readonly says: RegExp;
  readonly plant: (world: World) => Promise<unknown>;
}

const THROTTLED = "BrandEventsSync-uk-throttled";
const WORKGROUP = "BrandEventsSync";

export const DEFECTS: readonly PlantedDefect[] = [
  {
    what: "a policy for analysts without the tables",
    row: "analysts",
    says: /^glue:GetTable on \S+ is refused, glue:GetPartitions/,
    plant: async ({ deployed, stack }) => {
      const { template } = deployed.deployment;
      const policy = template.one("AWS::IAM::ManagedPolicy");
      const document = parseDocument(template.resolve(policy.properties["PolicyDocument"]));
      const Statement = document.Statement.filter(({ Sid }) => Sid !== "ReadTables");
      await stack.clients.iam.createPolicyVersion({
        PolicyArn: String(template.resolve({ Ref: policy.id })),
        PolicyDocument: JSON.stringify({ ...document, Statement }),
        SetAsDefault: true,
      });
    },
  },
  {
    what: "the same policy, held against the template",
    row: "policies",
    says: /^ManagedPolicy \S+: PolicyDocument\.Statement\[ReadTables\]: expected \{.*glue:GetDatabase.*, found nothing$/,
    plant: async () => undefined,
  },
  {
    what: "a function that reads secrets of another name",
    row: "function",
    says: /^Function \S+: Environment\.Variables\.BRAND_EVENTS_SECRET_NAME: expected BrandEventsSync\/\{account\}-\S+, found Other\/\{account\}$/,
    plant: async ({ stack }) => {
      const variables = { BRAND_EVENTS_SECRET_NAME: "Other/{account}" };
      const { Environment, ...others } = parseFunction(stack.recorded.get("/configuration"));
      const Variables = { ...Environment.Variables, ...variables };
      stack.recorded.set("/configuration", { ...others, Environment: { Variables } });
    },
  },
  {
    what: "a secret that is deleted",
    row: "secrets",
    says: /^Secret BrandEventsSync\/uk-\S+: expected to be there, found ResourceNotFoundException/,
    plant: async ({ deployed, stack }) => {
      const { template } = deployed.deployment;
      const SecretId = String(template.resolve({ Ref: template.one("AWS::SecretsManager::Secret").id }));
      await stack.clients.secrets.deleteSecret({ SecretId, ForceDeleteWithoutRecovery: true });
    },
  },
  {
    what: "an alarm without an action",
    row: "alarms",
    says: /Alarm BrandEventsSync-uk-throttled: AlarmActions: expected arn:aws:sns:\S+, found nothing/,
    plant: (world) => changeAlarm(world, { AlarmActions: [] }),
  },
  {
    what: "an alarm on a metric that nothing writes",
    row: "alarms",
    says: /Alarm BrandEventsSync-uk-throttled: MetricName: expected Throttled, found Gone; Dimensions\[account\]\.Value: expected uk, found de/,
    plant: (world) =>
      changeAlarm(world, { MetricName: "Gone", Dimensions: [{ Name: "account", Value: "de" }] }),
  },
  {
    what: "an alarm that takes missing data for good, above another threshold",
    row: "alarms",
    says: /Threshold: expected 20, found 2000; TreatMissingData: expected ignore, found notBreaching/,
    plant: (world) => changeAlarm(world, { Threshold: 2_000, TreatMissingData: "notBreaching" }),
  },
  {
    what: "a rule that archives files",
    row: "bucket",
    says: /a lifecycle rule archives files \(GLACIER\)/,
    plant: async ({ deployed, stack }) => {
      const { s3 } = stack.clients;
      const Bucket = deployed.deployment.bucket;
      const { Rules = [] } = await s3.getBucketLifecycleConfiguration({ Bucket });
      const archiving: LifecycleRule = {
        Status: "Enabled",
        Filter: { Prefix: "snapshots/" },
        Transitions: [{ Days: 90, StorageClass: "GLACIER" }],
      };
      const LifecycleConfiguration = { Rules: [...Rules, archiving] };
      await s3.putBucketLifecycleConfiguration({ Bucket, LifecycleConfiguration });
    },
  },
  {
    what: "a bucket without encryption",
    row: "own bucket",
    says: /^Bucket \S+: expected to be there, found ServerSideEncryptionConfigurationNotFoundError/,
    plant: ({ deployed, stack }) =>
      stack.clients.s3.deleteBucketEncryption({ Bucket: deployed.deployment.bucket }),
  },
  {
    what: "a topic without its subscription",
    row: "subscriptions",
    says: /^not subscribed: team@example\.com$/,
    plant: async ({ deployed, stack }) => {
      const { template } = deployed.deployment;
      const SubscriptionArn = String(template.resolve({ Ref: template.one("AWS::SNS::Subscription").id }));
      await stack.clients.sns.unsubscribe({ SubscriptionArn });
    },
  },
  {
    what: "a schedule that is off, in another time zone, with another input",
    row: "schedules",
    says: /^Schedule Schedulesuk\w+: State: expected ENABLED, found DISABLED; ScheduleExpressionTimezone: expected UTC, found Asia\/Tokyo; Target\.Input\.account: expected uk, found de/,
    plant: async ({ deployed, stack }) => {
      const Name = deployed.deployment.template.one("AWS::Scheduler::Schedule").id;
      const { scheduler } = stack.clients;
      const found = await scheduler.getSchedule({ GroupName: WORKGROUP, Name });
      await scheduler.updateSchedule({
        Name,
        GroupName: WORKGROUP,
        ScheduleExpression: found.ScheduleExpression,
        FlexibleTimeWindow: found.FlexibleTimeWindow,
        Target: found.Target && { ...found.Target, Input: found.Target.Input?.replace("uk", "de") },
        State: "DISABLED",
        ScheduleExpressionTimezone: "Asia/Tokyo",
      });
    },
  },
  {
    what: "a view over the wrong table",
    row: "tables",
    says: /^Table events_typed: TableInput\.ViewOriginalText\.originalSql: expected .*"?events"?.*, found .*event_snapshots/,
    plant: async ({ deployed, stack }) => {
      const { glue } = stack.clients;
      const DatabaseName = deployed.deployment.database;
      const { Table } = await glue.getTable({ DatabaseName, Name: "events_typed" });
      const [, encoded = ""] = /: (\S+) \*/.exec(Table?.ViewOriginalText ?? "") ?? [];
      const view = Buffer.from(encoded, "base64").toString();
      const other = Buffer.from(view.replaceAll(/\bevents\b/g, "event_snapshots")).toString("base64");
      await glue.updateTable({
        DatabaseName,
        TableInput: {
          Name: "events_typed",
          TableType: Table?.TableType,
          Parameters: Table?.Parameters,
          StorageDescriptor: Table?.StorageDescriptor,
          ViewExpandedText: Table?.ViewExpandedText,
          ViewOriginalText: `/* Presto View: ${other} */`,
        },
      });
    },
  },
  {
    what: "a state machine that calls a function which is absent",
    row: "hand-over",
    says: /^FAILED: Lambda\.ResourceNotFoundException/,
    plant: async ({ deployed }) => {
      const absent = {
        ok: false,
        errorType: "Lambda.ResourceNotFoundException",
        errorMessage: "No.",
      } as const;
      deployed.deployment.stateMachine.function = {
        invoke: async () => absent,
        deliver: async () => [absent],
      };
    },
  },
  {
    what: "the same state machine, held against the template",
    row: "state machine",
    says: /^StateMachine BrandEventsSync: DefinitionString\.States\.Continue\.Resource: expected .*:live, found arn:absent$/,
    plant: async ({ deployed, stack }) => {
      const machine = z
        .looseObject({ definition: z.string() })
        .parse(stack.recorded.get("DescribeStateMachine"));
      const alias = deployed.deployment.template.one("AWS::Lambda::Alias").id;
      const arn = String(deployed.deployment.template.resolve({ Ref: alias }));
      const definition = machine.definition.replace(arn, "arn:absent");
      stack.recorded.set("DescribeStateMachine", { ...machine, definition });
    },
  },
  {
    what: "a rule without its target",
    row: "rules",
    says: /^Rule MailsHeld\w+: Targets\[Target0\]: expected \{.*, found nothing$/,
    plant: async ({ deployed, stack }) => {
      const rules = deployed.deployment.template.all("AWS::Events::Rule");
      const Rule = rules.find(({ id }) => id.startsWith("MailsHeld"))?.id;
      await stack.clients.events.removeTargets({ Rule, Ids: ["Target0"] });
    },
  },
  {
    what: "an alias without a destination for failures, which retries more often",
    row: "function",
    says: /EventInvokeConfig \S+: MaximumRetryAttempts: expected 2, found 0; DestinationConfig\.OnFailure: expected \{"Destination":"arn:aws:sqs:\S+\}, found nothing/,
    plant: async ({ stack }) => {
      const config = { MaximumEventAgeInSeconds: 3_600, MaximumRetryAttempts: 0, DestinationConfig: {} };
      stack.recorded.set("/event-invoke-config", config);
    },
  },
  {
    what: "a workgroup that does not enforce its configuration",
    row: "workgroup",
    says: /^WorkGroup BrandEventsSync: WorkGroupConfiguration\.EnforceWorkGroupConfiguration: expected true, found false$/,
    plant: async ({ stack }) => {
      const { athena } = stack.clients;
      const { WorkGroup } = await athena.getWorkGroup({ WorkGroup: WORKGROUP });
      await athena.deleteWorkGroup({ WorkGroup: WORKGROUP });
      const Configuration = { ...WorkGroup?.Configuration, EnforceWorkGroupConfiguration: false };
      await athena.createWorkGroup({ Name: WORKGROUP, Configuration });
    },
  },
  {
    what: "a role without one of its permissions",
    row: "rights",
    says: /^FunctionRole\w+ may not s3:ListBucket on arn:aws:s3:::\S+ with s3:prefix snapshots\/x; /,
    plant: async ({ deployed, stack }) => {
      const { iam } = stack.clients;
      const { id } = deployed.deployment.template.all("AWS::IAM::Role")[0] ?? { id: "" };
      const { PolicyNames: [PolicyName] = [] } = await iam.listRolePolicies({ RoleName: id });
      const inline = { RoleName: id, PolicyName };
      const { PolicyDocument = "" } = await iam.getRolePolicy(inline);
      const document = parseDocument(JSON.parse(decodeURIComponent(PolicyDocument)));
      const Statement = document.Statement.filter(({ Sid }) => Sid !== "List");
      await iam.putRolePolicy({ ...inline, PolicyDocument: JSON.stringify({ ...document, Statement }) });
    },
  },
];

async function changeAlarm({ stack }: World, change: object): Promise<void> {
  const { cloudWatch } = stack.clients;
  const { MetricAlarms: [alarm] = [] } = await cloudWatch.describeAlarms({ AlarmNames: [THROTTLED] });
  const { AlarmName, ComparisonOperator, EvaluationPeriods, ...others } = alarm ?? {};
  const { Namespace, MetricName, Dimensions, Statistic, Period, Threshold, TreatMissingData } = others;
  const { AlarmActions, OKActions, AlarmDescription } = others;
  await cloudWatch.putMetricAlarm({
    ...{ AlarmName, ComparisonOperator, EvaluationPeriods, Namespace, MetricName, Dimensions, Statistic },
    ...{ Period, Threshold, TreatMissingData, AlarmActions, OKActions, AlarmDescription },
    ...change,
  });
}

const parseDocument = (document: unknown) =>
  z.looseObject({ Statement: z.array(z.looseObject({ Sid: z.string().optional() })) }).parse(document);

const parseFunction = (configuration: unknown) =>
  z
    .looseObject({ Environment: z.object({ Variables: z.record(z.string(), z.string()) }) })
    .parse(configuration);
