// What a person may break in a deployment without anything failing, each planted into one on the emulator, with the row of
// the acceptance that must find it.

import type { TableInput } from "@aws-sdk/client-glue";
import type { LifecycleRule } from "@aws-sdk/client-s3";
import { z } from "zod";
import type { DeployedAccounts } from "../e2e/deployed-accounts.ts";
import type { EmulatedStack } from "./emulated-stack.ts";
import { without } from "./kind.ts";

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

/** The defect before it has planted it. */
const nothing = async (): Promise<void> => undefined;

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
    says: /Alarm BrandEventsSync-uk-throttled: .*Dimensions\[account\]\.Value: expected uk, found de; MetricName: expected Throttled, found Gone/,
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
    plant: (world) =>
      addRule(world, {
        Status: "Enabled",
        Filter: { Prefix: "snapshots/" },
        Transitions: [{ Days: 90, StorageClass: "GLACIER" }],
      }),
  },
  {
    what: "a bucket's rule that deletes snapshots on a date",
    row: "own bucket",
    says: /LifecycleConfiguration\.Rules\[tidy\]: expected nothing, found \{"Id":"tidy","Prefix":"snapshots\/","ExpirationDate":"2027-01-01T00:00:00\.000Z"/,
    plant: (world) =>
      addRule(world, {
        ID: "tidy",
        Status: "Enabled",
        Filter: { Prefix: "snapshots/" },
        Expiration: { Date: new Date("2027-01-01T00:00:00Z") },
      }),
  },
  {
    what: "the same rule, by what it does",
    row: "bucket",
    says: /a lifecycle rule deletes snapshots\/ on 2027-01-01/,
    plant: nothing,
  },
  {
    what: "a bucket without encryption",
    row: "own bucket",
    says: /^Bucket \S+: BucketEncryption\.ServerSideEncryptionConfiguration: expected \{"ServerSideEncryptionByDefault":\{"SSEAlgorithm":"AES256"\}\}, found nothing/,
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
    says: /^Schedule Schedulesuk\w+: Description: .*; ScheduleExpressionTimezone: expected UTC, found Asia\/Tokyo; State: expected ENABLED, found DISABLED; Target\.Input\.account: expected uk, found de/,
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
    says: /EventInvokeConfig \S+: DestinationConfig\.OnFailure: expected \{"Destination":"arn:aws:sqs:\S+\}, found nothing; MaximumRetryAttempts: expected 2, found 0/,
    plant: async ({ stack }) => {
      const config = { MaximumEventAgeInSeconds: 3_600, MaximumRetryAttempts: 0, DestinationConfig: {} };
      stack.recorded.set("/event-invoke-config", config);
    },
  },
  {
    what: "a workgroup that does not enforce its configuration",
    row: "workgroup",
    says: /^WorkGroup BrandEventsSync: Description: .*; WorkGroupConfiguration\.EnforceWorkGroupConfiguration: expected true, found false/,
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
  // What a comparison of known things would not see: further properties, and resources beside those of the template.
  {
    what: "a bucket's policy without TLS, open to another account",
    row: "own bucket",
    says: /BucketPolicy \S+: .*PolicyDocument\.Statement\.Principal\.AWS: expected \*, found arn:aws:iam::999999999999:root/,
    plant: async ({ deployed, stack }) => {
      const Bucket = deployed.deployment.bucket;
      const { Policy = "" } = await stack.clients.s3.getBucketPolicy({ Bucket });
      const document = parseDocument(JSON.parse(Policy));
      const open = {
        Sid: "Open",
        Effect: "Allow",
        Principal: { AWS: "arn:aws:iam::999999999999:root" },
        Action: "s3:GetObject",
        Resource: `arn:aws:s3:::${Bucket}/*`,
      };
      const Statement = [...document.Statement.filter(({ Sid }) => Sid !== undefined), open];
      await stack.clients.s3.putBucketPolicy({ Bucket, Policy: JSON.stringify({ ...document, Statement }) });
    },
  },
  {
    what: "a bucket without tags, versions and blocks, with an address for browsers",
    row: "own bucket",
    says: /PublicAccessBlockConfiguration: expected \{.*\}, found nothing; Tags\[brand-events-sync\]: expected .*, found nothing; VersioningConfiguration\.Status: expected Enabled, found Suspended; IndexDocument: expected nothing, found \{"Suffix":"i"\}/,
    plant: async ({ deployed, stack: { clients } }) => {
      const Bucket = deployed.deployment.bucket;
      await clients.s3.deleteBucketTagging({ Bucket });
      await clients.s3.putBucketVersioning({ Bucket, VersioningConfiguration: { Status: "Suspended" } });
      await clients.s3.deletePublicAccessBlock({ Bucket });
      const WebsiteConfiguration = { IndexDocument: { Suffix: "i" } };
      await clients.s3.putBucketWebsite({ Bucket, WebsiteConfiguration });
    },
  },
  {
    what: "a topic's policy that lets no alarm publish, and a topic without its key",
    row: "topic",
    says: /Topic \S+: KmsMasterKeyId: expected \S+, found nothing; TopicPolicy \S+: PolicyDocument\.Statement\[AlarmsMayPublish\]: expected \{.*, found nothing/,
    plant: async ({ deployed, stack }) => {
      const { sns } = stack.clients;
      const TopicArn = refOf(deployed, "AWS::SNS::Topic");
      const { Attributes = {} } = await sns.getTopicAttributes({ TopicArn });
      const document = parseDocument(JSON.parse(Attributes["Policy"] ?? ""));
      const Statement = document.Statement.filter(({ Sid }) => Sid === "AllowPublishThroughSSLOnly");
      const AttributeValue = JSON.stringify({ ...document, Statement });
      await sns.setTopicAttributes({ TopicArn, AttributeName: "Policy", AttributeValue });
      await sns.setTopicAttributes({ TopicArn, AttributeName: "KmsMasterKeyId", AttributeValue: "" });
    },
  },
  {
    what: "a subscription with a filter that no mail passes",
    row: "subscriptions",
    says: /Subscription \S+: FilterPolicy: expected nothing, found \{"never":\["x"\]\}/,
    plant: async ({ deployed, stack }) => {
      const { sns } = stack.clients;
      const TopicArn = refOf(deployed, "AWS::SNS::Topic");
      const again = { TopicArn, Protocol: "email", Endpoint: "team@example.com" };
      const Attributes = { FilterPolicy: '{"never":["x"]}' };
      await sns.subscribe({ ...again, Attributes });
    },
  },
  {
    what: "somebody else who gets the mails",
    row: "nothing else",
    says: /https https:\/\/example\.org\/hook: a subscription to the topic that the template does not state/,
    plant: async ({ deployed, stack }) => {
      const TopicArn = refOf(deployed, "AWS::SNS::Topic");
      await stack.clients.sns.subscribe({
        TopicArn,
        Protocol: "https",
        Endpoint: "https://example.org/hook",
      });
    },
  },
  {
    what: "a partition whose files are read in another way",
    row: "partitions",
    says: /^the partition of sync_runs is not as its table: SerdeInfo\.Parameters\.skip\.header\.line\.count: expected nothing, found 1/,
    plant: async ({ deployed, stack }) => {
      const { glue } = stack.clients;
      const table = { DatabaseName: deployed.deployment.database, TableName: "sync_runs" };
      const { Partitions = [] } = await glue.getPartitions(table);
      const { Values = [], StorageDescriptor } = Partitions[0] ?? {};
      const Parameters = { ...StorageDescriptor?.SerdeInfo?.Parameters, "skip.header.line.count": "1" };
      const SerdeInfo = { ...StorageDescriptor?.SerdeInfo, Parameters };
      const PartitionInput = { Values, StorageDescriptor: { ...StorageDescriptor, SerdeInfo } };
      await glue.updatePartition({ ...table, PartitionValueList: Values, PartitionInput });
    },
  },
  {
    what: "swapped partition keys, a line that is skipped, a projection of partitions",
    row: "tables",
    says: /Table event_snapshots: TableInput\.PartitionKeys\[account\]\.Name: expected account, found snapshot_id; .*Table publications: TableInput\.Parameters\.projection\.enabled: expected nothing, found true; TableInput\.StorageDescriptor\.SerdeInfo\.Parameters\.skip\.header\.line\.count: expected nothing, found 1/,
    plant: async (world) => {
      await changeTable(world, "event_snapshots", ({ PartitionKeys = [], ...table }) => ({
        ...table,
        PartitionKeys: PartitionKeys.toReversed(),
      }));
      await changeTable(world, "publications", ({ Parameters, StorageDescriptor, ...table }) => ({
        ...table,
        Parameters: { ...Parameters, "projection.enabled": "true" },
        StorageDescriptor: {
          ...StorageDescriptor,
          SerdeInfo: {
            ...StorageDescriptor?.SerdeInfo,
            Parameters: { ...StorageDescriptor?.SerdeInfo?.Parameters, "skip.header.line.count": "1" },
          },
        },
      }));
    },
  },
  {
    what: "a table whose columns changed places",
    row: "tables",
    says: /Table sync_runs: TableInput\.StorageDescriptor\.Columns\[\w+\]\.Name: expected \w+, found \w+/,
    plant: (world) =>
      changeTable(world, "sync_runs", ({ StorageDescriptor, ...table }) => ({
        ...table,
        StorageDescriptor: { ...StorageDescriptor, Columns: StorageDescriptor?.Columns?.toReversed() },
      })),
  },
  {
    what: "a schedule that begins in years",
    row: "schedules",
    says: /StartDate: expected nothing, found 2035-01-01T00:00:00\.000Z/,
    plant: async ({ deployed, stack }) => {
      const Name = deployed.deployment.template.one("AWS::Scheduler::Schedule").id;
      const { scheduler } = stack.clients;
      const found = await scheduler.getSchedule({ GroupName: WORKGROUP, Name });
      await scheduler.updateSchedule({
        ...without(found, "Arn CreationDate LastModificationDate"),
        Name,
        GroupName: WORKGROUP,
        ScheduleExpression: found.ScheduleExpression,
        FlexibleTimeWindow: found.FlexibleTimeWindow,
        Target: found.Target,
        StartDate: new Date("2035-01-01T00:00:00Z"),
      });
    },
  },
  {
    what: "a schedule beside those of the template",
    row: "nothing else",
    says: /twice: a schedule in the group that the template does not state/,
    plant: async ({ deployed, stack }) => {
      const Name = deployed.deployment.template.one("AWS::Scheduler::Schedule").id;
      const { scheduler } = stack.clients;
      const { Target, FlexibleTimeWindow } = await scheduler.getSchedule({ GroupName: WORKGROUP, Name });
      const ScheduleExpression = "rate(1 minute)";
      await scheduler.createSchedule({
        ...{ Name: "twice", GroupName: WORKGROUP, ScheduleExpression },
        ...{ FlexibleTimeWindow, Target },
      });
    },
  },
  {
    what: "a function behind a proxy, with a layer and another log group, that is smaller and on another processor",
    row: "function",
    says: /Architectures: expected arm64, found x86_64; .*Environment\.Variables\.HTTPS_PROXY: expected nothing, found http:\/\/10\.0\.0\.1; .*LoggingConfig\.LogGroup: expected \S+, found \/other; .*MemorySize: expected 1769, found 128; .*Layers: expected nothing, found \{"Arn":"arn:layer"\}/,
    plant: async ({ stack }) => {
      const { Environment, ...others } = parseFunction(stack.recorded.get("/configuration"));
      stack.recorded.set("/configuration", {
        ...others,
        Architectures: ["x86_64"],
        Environment: { Variables: { ...Environment.Variables, HTTPS_PROXY: "http://10.0.0.1" } },
        Layers: [{ Arn: "arn:layer" }],
        LoggingConfig: { LogFormat: "Text", LogGroup: "/other" },
        MemorySize: 128,
      });
    },
  },
  {
    what: "a function that may never run, with files of another system",
    row: "function",
    says: /FileSystemConfigs: expected nothing, found .*; .*ReservedConcurrentExecutions: expected nothing, found 0/,
    plant: async ({ stack }) => {
      const found = parseFunction(stack.recorded.get("/configuration"));
      const FileSystemConfigs = [{ Arn: "arn:files", LocalMountPath: "/mnt/files" }];
      stack.recorded.set("/configuration", { ...found, FileSystemConfigs });
      stack.recorded.set("/concurrency", { ReservedConcurrentExecutions: 0 });
    },
  },
  {
    what: "an alias that sends some calls to another version",
    row: "function",
    says: /Alias live: RoutingConfig: expected nothing, found \{"AdditionalVersionWeights":\{"6":0\.5\}\}/,
    plant: async ({ stack }) => {
      const RoutingConfig = { AdditionalVersionWeights: { 6: 0.5 } };
      stack.recorded.set("/aliases/live", { ...stack.recorded.get("/aliases/live"), RoutingConfig });
    },
  },
  {
    what: "a function that everybody may call at an address",
    row: "nothing else",
    says: /live "\*" everything: a permission to call the function that the template does not state; https:\/\/x\.lambda-url: an address of the function/,
    plant: async ({ stack }) => {
      const { Policy } = z.object({ Policy: z.string() }).parse(stack.recorded.get("/policy"));
      const document = parseDocument(JSON.parse(Policy));
      const open = { Sid: "Open", Effect: "Allow", Principal: "*", Action: "lambda:InvokeFunctionUrl" };
      const Statement = [...document.Statement, open];
      stack.recorded.set("/policy", { Policy: JSON.stringify({ ...document, Statement }) });
      stack.recorded.set("/urls", { FunctionUrlConfigs: [{ FunctionUrl: "https://x.lambda-url" }] });
    },
  },
  {
    what: "somebody else who empties the failure queue",
    row: "nothing else",
    says: /arn:reader: a (?:reader of the failure queue|source of events for the function)/,
    plant: async ({ stack }) => {
      const mapping = { FunctionArn: "arn:reader", EventSourceArn: "arn:reader" };
      stack.recorded.set("/event-source-mappings", { EventSourceMappings: [mapping] });
    },
  },
  {
    what: "a role that may do everything, and is an administrator besides",
    row: "nothing else",
    says: /StateMachineRole\w+ Everything: a policy in a role that the template does not state; StateMachineRole\w+ arn:\S+: a policy attached to a role/,
    plant: async ({ deployed, stack }) => {
      const { iam } = stack.clients;
      const roles = deployed.deployment.template.all("AWS::IAM::Role");
      const RoleName = roles.find(({ id }) => id.startsWith("StateMachine"))?.id;
      const Statement = [{ Effect: "Allow", Action: "*", Resource: "*" }];
      const PolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement });
      await iam.putRolePolicy({ RoleName, PolicyName: "Everything", PolicyDocument });
      const { Policy } = await iam.createPolicy({ PolicyName: "Administrator", PolicyDocument });
      await iam.attachRolePolicy({ RoleName, PolicyArn: Policy?.Arn });
    },
  },
  {
    what: "a role that another account may take, for twelve hours",
    row: "policies",
    says: /Role \S+: AssumeRolePolicyDocument\.Statement: expected nothing, found \{.*999999999999.*MaxSessionDuration: expected nothing, found 43200|Role \S+: .*MaxSessionDuration: expected nothing, found 43200.*AssumeRolePolicyDocument\.Statement: expected nothing, found/,
    plant: async ({ deployed, stack }) => {
      const { iam } = stack.clients;
      const { id: RoleName } = deployed.deployment.template.all("AWS::IAM::Role")[1] ?? { id: "" };
      const { Role } = await iam.getRole({ RoleName });
      const document = parseDocument(JSON.parse(decodeURIComponent(Role?.AssumeRolePolicyDocument ?? "")));
      const open = { Effect: "Allow", Principal: { AWS: "999999999999" }, Action: "sts:AssumeRole" };
      const PolicyDocument = JSON.stringify({ ...document, Statement: [...document.Statement, open] });
      await iam.updateAssumeRolePolicy({ RoleName, PolicyDocument });
      await iam.updateRole({ RoleName, MaxSessionDuration: 43_200, Description: Role?.Description });
    },
  },
  {
    what: "a role of the schedules that may call any function",
    row: "policies",
    says: /Policy \S+: PolicyDocument\.Statement\[Start\]\.Resource: expected arn:\S+, found \*/,
    plant: async ({ deployed, stack }) => {
      const { iam } = stack.clients;
      const id = deployed.deployment.template
        .all("AWS::IAM::Role")
        .find((each) => each.id.startsWith("Schedules"))?.id;
      const { PolicyNames: [PolicyName] = [] } = await iam.listRolePolicies({ RoleName: id });
      const inline = { RoleName: id, PolicyName };
      const { PolicyDocument = "" } = await iam.getRolePolicy(inline);
      const document = parseDocument(JSON.parse(decodeURIComponent(PolicyDocument)));
      const Statement = document.Statement.map((each) =>
        each.Sid === "Start" ? { ...each, Resource: "*" } : each,
      );
      await iam.putRolePolicy({ ...inline, PolicyDocument: JSON.stringify({ ...document, Statement }) });
    },
  },
  {
    what: "a queue that keeps nothing for long, whose policy lets everybody read",
    row: "queue",
    says: /Queue \S+: .*MessageRetentionPeriod: expected 1209600, found 60; .*QueuePolicy \S+: PolicyDocument\.Statement\[Open\]: expected nothing, found/,
    plant: async ({ deployed, stack }) => {
      const { sqs } = stack.clients;
      const QueueUrl = refOf(deployed, "AWS::SQS::Queue");
      const { Attributes = {} } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ["Policy"] });
      const document = parseDocument(JSON.parse(Attributes["Policy"] ?? ""));
      const Resource = document.Statement[0]?.["Resource"];
      const open = { Sid: "Open", Effect: "Allow", Principal: "*", Action: "sqs:*", Resource };
      const Policy = JSON.stringify({ ...document, Statement: [...document.Statement, open] });
      await sqs.setQueueAttributes({
        QueueUrl,
        Attributes: { Policy, MessageRetentionPeriod: "60", DelaySeconds: "900" },
      });
    },
  },
  {
    what: "a key that does not rotate, with a policy for another account, and a grant",
    row: "key",
    says: /Key \S+: KeyPolicy\.Statement\[Open\]: expected nothing, found .*; EnableKeyRotation: expected true, found false|Key \S+: EnableKeyRotation: expected true, found false; KeyPolicy\.Statement\[Open\]: expected nothing/,
    plant: async ({ deployed, stack }) => {
      const { kms } = stack.clients;
      const KeyId = refOf(deployed, "AWS::KMS::Key");
      const { Policy = "" } = await kms.getKeyPolicy({ KeyId, PolicyName: "default" });
      const document = parseDocument(JSON.parse(Policy));
      const open = { Sid: "Open", Effect: "Allow", Principal: { AWS: "*" }, Action: "kms:*", Resource: "*" };
      const Statement = [...document.Statement, open];
      await kms.putKeyPolicy({
        KeyId,
        PolicyName: "default",
        Policy: JSON.stringify({ ...document, Statement }),
      });
      await kms.disableKeyRotation({ KeyId });
      const GranteePrincipal = "arn:aws:iam::999999999999:root";
      await kms.createGrant({ KeyId, GranteePrincipal, Operations: ["Decrypt"] });
    },
  },
  {
    what: "the grant of that key",
    row: "nothing else",
    says: /arn:aws:iam::999999999999:root: a grant of the key/,
    plant: nothing,
  },
  {
    what: "a key that is off",
    row: "key",
    says: /Enabled: expected nothing, found false.*KeyState: expected nothing, found Disabled/,
    plant: ({ deployed, stack }) => stack.clients.kms.disableKey({ KeyId: refOf(deployed, "AWS::KMS::Key") }),
  },
  {
    what: "an alarm whose actions are off",
    row: "alarms",
    says: /Alarm BrandEventsSync-uk-stale: ActionsEnabled: expected nothing, found false/,
    plant: ({ stack }) =>
      stack.clients.cloudWatch.disableAlarmActions({ AlarmNames: ["BrandEventsSync-uk-stale"] }),
  },
  {
    what: "the same alarm, in the list of those that are raised",
    row: "alarms that are raised",
    says: /^actions are off: BrandEventsSync-uk-stale$/,
    plant: nothing,
  },
  {
    what: "a dashboard of something else",
    row: "dashboard",
    says: /Dashboard \S+: DashboardBody\.start: expected -P14D, found nothing/,
    plant: ({ stack }) =>
      stack.clients.cloudWatch.putDashboard({
        DashboardName: WORKGROUP,
        DashboardBody: JSON.stringify({ widgets: [{ type: "text", properties: { markdown: "x" } }] }),
      }),
  },
  {
    what: "a log that is kept for a day, and read by somebody else",
    row: "log",
    says: /LogGroup \S+: RetentionInDays: expected 90, found 1/,
    plant: async ({ deployed, stack }) => {
      const logGroupName = refOf(deployed, "AWS::Logs::LogGroup");
      await stack.clients.logs.putRetentionPolicy({ logGroupName, retentionInDays: 1 });
    },
  },
  {
    what: "a filter of the log that counts nothing",
    row: "alarms",
    says: /MetricFilter \S+: FilterPattern: expected \{ \$\.EventNotSent = 1 \}, found never/,
    plant: async ({ deployed, stack }) => {
      const { logs } = stack.clients;
      const logGroupName = refOf(deployed, "AWS::Logs::LogGroup");
      const { metricFilters: [found] = [] } = await logs.describeMetricFilters({ logGroupName });
      await logs.deleteMetricFilter({ logGroupName, filterName: found?.filterName });
      await logs.putMetricFilter({
        logGroupName,
        filterName: found?.filterName,
        filterPattern: "never",
        metricTransformations: found?.metricTransformations,
      });
    },
  },
  {
    what: "a rule that has another pattern, and a target that is not stated",
    row: "rules",
    says: /Rule MailsFailed\w+: .*EventPattern\.source: expected brand-events-sync, found nothing; .*Targets\[more\]: expected nothing, found/,
    plant: async ({ deployed, stack }) => {
      const { events } = stack.clients;
      const rules = deployed.deployment.template.all("AWS::Events::Rule");
      const Name = rules.find(({ id }) => id.startsWith("MailsFailed"))?.id;
      await events.putTargets({ Rule: Name, Targets: [{ Id: "more", Arn: "arn:aws:sqs:eu-west-1:1:q" }] });
      const { Description } = await events.describeRule({ Name });
      await events.putRule({ Name, Description, EventPattern: '{"detail-type":["x"]}' });
    },
  },
  {
    what: "a state machine that writes a log, and is traced",
    row: "state machine",
    says: /LoggingConfiguration\.Level: expected OFF, found ALL; .*TracingConfiguration\.Enabled: expected false, found true/,
    plant: async ({ stack }) => {
      stack.recorded.set("DescribeStateMachine", {
        ...stack.recorded.get("DescribeStateMachine"),
        loggingConfiguration: { level: "ALL" },
        tracingConfiguration: { enabled: true },
      });
    },
  },
];

async function addRule({ deployed, stack }: World, rule: LifecycleRule): Promise<void> {
  const { s3 } = stack.clients;
  const Bucket = deployed.deployment.bucket;
  const { Rules = [] } = await s3.getBucketLifecycleConfiguration({ Bucket });
  const LifecycleConfiguration = { Rules: [...Rules, rule] };
  await s3.putBucketLifecycleConfiguration({ Bucket, LifecycleConfiguration });
}

async function changeTable(
  { deployed, stack }: World,
  Name: string,
  change: (table: TableInput) => TableInput,
): Promise<void> {
  const DatabaseName = deployed.deployment.database;
  const { Table } = await stack.clients.glue.getTable({ DatabaseName, Name });
  const { Description, Parameters, PartitionKeys, StorageDescriptor, TableType } = Table ?? {};
  const TableInput = { Name, Description, Parameters, PartitionKeys, StorageDescriptor, TableType };
  await stack.clients.glue.updateTable({ DatabaseName, TableInput: change(TableInput) });
}

/** The name or ARN of the only resource of a type. */
function refOf({ deployment: { template } }: World["deployed"], type: string): string {
  return String(template.resolve({ Ref: template.one(type).id }));
}

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
