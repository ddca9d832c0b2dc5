// A deployment as the acceptance finds it: the resources of the template on the emulator, made as CloudFormation would, and
// before it what answers for CloudFormation, for the function and its state machine, and for IAM's simulation.

import { randomUUID } from "node:crypto";
import type { CreateNamedQueryCommandInput, WorkGroupConfiguration } from "@aws-sdk/client-athena";
import type { PutMetricAlarmCommandInput } from "@aws-sdk/client-cloudwatch";
import type { Target } from "@aws-sdk/client-eventbridge";
import type { LifecycleRule, OwnershipControls } from "@aws-sdk/client-s3";
import type { CreateScheduleCommandInput } from "@aws-sdk/client-scheduler";
import { z } from "zod";
import {
  type Asked,
  AwsProxy,
  type Carried,
  type Fault,
  jsonResponse,
  queryResponse,
  s3Response,
} from "../aws/aws-proxy.ts";
import { awsConfig, emulator } from "../aws/emulator.ts";
import { ACCOUNT_ID, REGION } from "../e2e/aws-call.ts";
import type { Deployment } from "../e2e/deployment.ts";
import { isAllowed, parseStatements } from "../e2e/policy.ts";
import type { Template } from "../e2e/template.ts";
import { statesResponse } from "../states/states-engine.ts";
import { type Clients, newClients } from "./deployment.ts";
import { without } from "./kind.ts";

const bodySchema = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string() })),
  Outputs: z.record(z.string(), z.unknown()),
});

export interface EmulatedStack extends AsyncDisposable {
  readonly url: string;
  /** Of the acceptance: they see what it sees. */
  readonly clients: Clients;
  /**
   * What Lambda and Step Functions answer, by the end of the path or the name of the call. The emulator has no function
   * with an alias of its own. Undefined for what is not there; a test changes it.
   */
  readonly recorded: Map<string, object>;
}

export async function emulatedStack(deployment: Deployment): Promise<EmulatedStack> {
  const { template } = deployment;
  await makeResources(deployment, newClients({}, awsConfig()));
  const { Resources, Outputs } = bodySchema.parse(JSON.parse(template.body));
  const resources = Object.entries(Resources).map(([id, { Type }]) => ({
    LogicalResourceId: id,
    PhysicalResourceId: String(template.resolve({ Ref: id })),
    ResourceType: Type,
    ResourceStatus: "CREATE_COMPLETE",
    LastUpdatedTimestamp: "2026-11-23T00:00:00Z",
  }));
  const stack = {
    StackName: "Stack",
    StackId: template.resolve({ Ref: "AWS::StackId" }),
    StackStatus: "CREATE_COMPLETE",
    CreationTime: "2026-11-23T00:00:00Z",
    Outputs: Object.keys(Outputs).map((key) => ({ OutputKey: key, OutputValue: template.output(key) })),
  };
  const answers: Readonly<Record<string, object>> = {
    DescribeStacks: { Stacks: [stack] },
    ListStackResources: { StackResourceSummaries: resources },
    GetTemplate: { TemplateBody: template.body },
  };
  const recorded = recordedAnswers(deployment);
  const proxy = await AwsProxy.start(emulator());
  const clients = newClients({}, awsConfig(proxy.url));
  proxy.fault = async (asked, carried) => {
    const { headers, body } = carried;
    const form = new URLSearchParams(body.toString());
    const action = form.get("Action") ?? "";
    if (headers.authorization?.includes("/cloudformation/"))
      return queryResponse(action, answers[action] ?? {});
    if (action === "SimulatePrincipalPolicy") return queryResponse(action, await simulated(clients, form));
    if (asked.url.includes("/invocations")) return invoked(deployment, headers, body);
    const call = asked.action ?? "";
    // Nothing is delivered: what rules match and send is not shown here.
    if (call.endsWith(".PutEvents")) return { status: 200, body: '{"FailedEntryCount":0}' };
    const ofDashboard = call.endsWith(".ListTagsForResource") && body.includes(":dashboard/");
    if (ofDashboard || isRecorded(asked.url, call)) {
      const at = ofDashboard ? DASHBOARD_TAGS : `${decodeURIComponent(asked.url)} ${call}`;
      const keys = [...recorded.keys()].filter((each) => at.includes(each));
      // What says more is meant.
      const answer = recorded.get(keys.toSorted((a, b) => b.length - a.length)[0] ?? "");
      return answer === undefined || answer === ABSENT
        ? jsonResponse("ResourceNotFoundException", "It is not there", 404)
        : { status: 200, body: JSON.stringify(answer), headers: { "content-type": "application/json" } };
    }
    const policy = policyOfBucket(recorded, asked, body);
    if (policy !== undefined) return policy;
    return statesResponse(deployment.stateMachine.engine, asked, carried);
  };
  return { url: proxy.url, clients, recorded, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() };
}

/** What the emulator does not have, or has in a way of its own. */
const isRecorded = (url: string, call: string): boolean =>
  /\/functions\/|\/2017-03-31\/tags\/|\/event-source-mappings/.test(url) ||
  /^AWSStepFunctions\.(?:DescribeStateMachine|ListTagsForResource)$/.test(call) ||
  /^Logs_\w+\.DescribeQueryDefinitions$/.test(call);

/** In `recorded`, for what is not there. */
const ABSENT = {};

/** The bucket's policy is kept here: the emulator enforces it, but for its conditions. */
function policyOfBucket(recorded: EmulatedStack["recorded"], { method, url }: Asked, body: Buffer) {
  if (!/\?policy(?:=|&|$)/.test(url)) return undefined;
  if (method === "PUT") recorded.set(BUCKET_POLICY, JSON.parse(body.toString()));
  if (method === "DELETE") recorded.delete(BUCKET_POLICY);
  if (method !== "GET") return { status: 204, body: "" };
  const policy = recorded.get(BUCKET_POLICY);
  return policy === undefined
    ? s3Response(404, "NoSuchBucketPolicy")
    : { status: 200, body: JSON.stringify(policy), headers: { "content-type": "application/json" } };
}

const BUCKET_POLICY = "the bucket's policy";
const DASHBOARD_TAGS = "the dashboard's tags";

/** As AWS documents them, filled from the template. */
function recordedAnswers({ template }: Deployment): Map<string, object> {
  const of = (type: string) => JSON.parse(JSON.stringify(template.resolve(template.one(type).properties)));
  const {
    DestinationConfig,
    FunctionName: name,
    Qualifier: _,
    ...invocations
  } = of("AWS::Lambda::EventInvokeConfig");
  const { Action, FunctionName: Resource, Principal, SourceArn } = of("AWS::Lambda::Permission");
  const ArnLike = { "AWS:SourceArn": SourceArn };
  const statement = { Sid: "1", Effect: "Allow", Principal: { Service: Principal }, Action, Resource };
  const { Code: __, Tags, ...configuration } = of("AWS::Lambda::Function");
  const machine = of("AWS::StepFunctions::StateMachine");
  const queries = template.all("AWS::Logs::QueryDefinition").map(({ id, properties }) => {
    const { Name, QueryString, LogGroupNames } = JSON.parse(JSON.stringify(template.resolve(properties)));
    return {
      queryDefinitionId: id,
      name: Name,
      queryString: QueryString,
      logGroupNames: LogGroupNames,
      queryLanguage: "CWLI",
    };
  });
  return new Map<string, object>([
    [
      "/configuration",
      {
        ...configuration,
        FunctionName: name,
        FunctionArn: Resource,
        Version: "7",
        State: "Active",
        Description: configuration.Description,
        TracingConfig: { Mode: "PassThrough" },
        EphemeralStorage: { Size: 512 },
        PackageType: "Zip",
        SnapStart: { ApplyOn: "None", OptimizationStatus: "Off" },
        LoggingConfig: { LogFormat: "Text", ...configuration.LoggingConfig },
        VpcConfig: { SubnetIds: [], SecurityGroupIds: [], VpcId: "", Ipv6AllowedForDualStack: false },
      },
    ],
    ["/tags/", { Tags: mapOf(Tags) }],
    ["/concurrency", {}],
    [
      "/aliases/live",
      { ...without(of("AWS::Lambda::Alias"), "FunctionName"), AliasArn: Resource, Description: "" },
    ],
    ["/event-invoke-config", { ...invocations, DestinationConfig: { OnSuccess: {}, ...DestinationConfig } }],
    ["/policy", { Policy: JSON.stringify({ Statement: [{ ...statement, Condition: { ArnLike } }] }) }],
    [`/functions/${name}/policy`, ABSENT],
    [`/functions/${name}/aliases `, { Aliases: [{ Name: "live" }] }],
    ["/aliases?", { Aliases: [{ Name: "live" }] }],
    ["/urls", { FunctionUrlConfigs: [] }],
    ["/provisioned-concurrency", { ProvisionedConcurrencyConfigs: [] }],
    ["/event-invoke-config/list", { FunctionEventInvokeConfigs: [{ FunctionArn: Resource }] }],
    ["/event-source-mappings", { EventSourceMappings: [] }],
    ["DescribeQueryDefinitions", { queryDefinitions: queries }],
    [
      "AWSStepFunctions.ListTagsForResource",
      { tags: machine.Tags.map(({ Key, Value }: Tagged["Tags"][number]) => ({ key: Key, value: Value })) },
    ],
    [DASHBOARD_TAGS, { Tags: of("AWS::CloudWatch::Dashboard").Tags }],
    [BUCKET_POLICY, of("AWS::S3::BucketPolicy").PolicyDocument],
    [
      "DescribeStateMachine",
      {
        stateMachineArn: template.output("StateMachineArn"),
        name: machine.StateMachineName,
        status: "ACTIVE",
        type: machine.StateMachineType,
        definition: machine.DefinitionString,
        roleArn: machine.RoleArn,
        loggingConfiguration: { level: machine.LoggingConfiguration.Level, includeExecutionData: false },
        tracingConfiguration: { enabled: machine.TracingConfiguration.Enabled },
        encryptionConfiguration: { type: machine.EncryptionConfiguration.Type },
        creationDate: 1_795_000_000,
      },
    ],
  ]);
}

/** By the inline policies that the role has on the emulator, decided as the tests of the function's calls decide. */
async function simulated({ iam }: Clients, form: URLSearchParams): Promise<object> {
  const all = (name: string) =>
    [...form].flatMap(([key, value]) => (key.startsWith(`${name}.member.`) ? [value] : []));
  const RoleName = form.get("PolicySourceArn")?.split("/").at(-1) ?? "";
  const { PolicyNames = [] } = await iam.listRolePolicies({ RoleName });
  const documents = PolicyNames.map(async (PolicyName) => {
    const { PolicyDocument = "" } = await iam.getRolePolicy({ RoleName, PolicyName });
    const { Statement } = z
      .object({ Statement: z.unknown() })
      .parse(JSON.parse(decodeURIComponent(PolicyDocument)));
    return parseStatements(Statement);
  });
  const statements = (await Promise.all(documents)).flat();
  const conditions = Object.fromEntries(
    Array.from({ length: 5 }, (_, n) => `ContextEntries.member.${n + 1}`).flatMap((entry) => {
      const key = form.get(`${entry}.ContextKeyName`);
      return key === null ? [] : [[key, form.get(`${entry}.ContextKeyValues.member.1`) ?? ""]];
    }),
  );
  const EvaluationResults = all("ActionNames").map((action) => ({
    EvalActionName: action,
    EvalDecision: isAllowed(statements, { action, resources: all("ResourceArns"), conditions })
      ? "allowed"
      : "implicitDeny",
  }));
  return { EvaluationResults, IsTruncated: false };
}

/** As the Invoke API of Lambda: at once for an event, else with the answer. */
async function invoked(deployment: Deployment, headers: Carried["headers"], body: Buffer): Promise<Fault> {
  const event: unknown = JSON.parse(body.toString());
  if (headers["x-amz-invocation-type"] === "Event") {
    void deployment.function.deliver(event);
    return { status: 202, body: "" };
  }
  const result = await deployment.function.invoke(event);
  if (result.ok) return { status: 200, body: JSON.stringify(result.payload) };
  const { errorType, errorMessage } = result;
  return {
    status: 200,
    body: JSON.stringify({ errorType, errorMessage }),
    headers: { "x-amz-function-error": "Unhandled" },
  };
}

/** Each step refers only to those before it, and to what the deployment has made already. */
async function makeResources({ template, bucket }: Deployment, clients: Clients): Promise<void> {
  await makeKeyAndQueue(template, clients);
  nameFunction(template);
  const machine = template.one("AWS::StepFunctions::StateMachine").id;
  template.made(machine, { ref: template.output("StateMachineArn") });
  await makeTopic(template, clients);
  await makeRules(template, clients);
  await makeSchedules(template, clients);
  await makeWorkgroup(template, clients);
  await makeRoles(template, clients);
  await makeAlarmsAndLog(template, clients);
  await makeBucket(template, clients, bucket);
  await makePolicies(template, clients);
  await tagSecrets(template, clients);
  const { Resources } = JSON.parse(template.body);
  for (const id of Object.keys(Resources)) nameIfNone(template, id);
}

interface Tagged {
  readonly Tags: { Key: string; Value: string }[];
}

/** Of the services that take them as a map. */
const mapOf = (tags: Tagged["Tags"]): Record<string, string> =>
  Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]));

/** The API's words are those of CloudFormation, and it refuses what is not as it expects. */
function* inputs<Input>(template: Template, type: string): Generator<{ readonly id: string } & Input> {
  for (const { id, properties } of template.all(type)) {
    yield { ...JSON.parse(JSON.stringify(template.resolve(properties))), id };
  }
}

async function makeKeyAndQueue(template: Template, { kms, sqs }: Clients): Promise<void> {
  // The policy of a key names what is made later.
  for (const { id, properties } of template.all("AWS::KMS::Key")) {
    const { Description, Tags } = z
      .object({ Description: z.string(), Tags: z.array(z.object({ Key: z.string(), Value: z.string() })) })
      .parse(properties);
    const { KeyMetadata } = await kms.createKey({
      Description,
      Tags: Tags.map(({ Key, Value }) => ({ TagKey: Key, TagValue: Value })),
    });
    const KeyId = KeyMetadata?.KeyId ?? "";
    await kms.enableKeyRotation({ KeyId });
    template.made(id, { ref: KeyId, attributes: { Arn: KeyMetadata?.Arn ?? "" } });
  }
  type Queue = Tagged & { MessageRetentionPeriod: number; SqsManagedSseEnabled: boolean };
  for (const { id, Tags, ...given } of inputs<Queue>(template, "AWS::SQS::Queue")) {
    const Attributes = {
      MessageRetentionPeriod: String(given.MessageRetentionPeriod),
      SqsManagedSseEnabled: String(given.SqsManagedSseEnabled),
    };
    const { QueueUrl = "" } = await sqs.createQueue({ QueueName: id, Attributes, tags: mapOf(Tags) });
    const Arn = `arn:aws:sqs:${REGION}:${ACCOUNT_ID}:${id}`;
    template.made(id, { ref: QueueUrl, attributes: { Arn, QueueName: id } });
  }
}

async function makeTopic(template: Template, { sns }: Clients): Promise<void> {
  type Topic = Tagged & { KmsMasterKeyId: string; DisplayName: string };
  for (const { id, Tags, KmsMasterKeyId, DisplayName } of inputs<Topic>(template, "AWS::SNS::Topic")) {
    const Attributes = { KmsMasterKeyId, DisplayName };
    const { TopicArn = "" } = await sns.createTopic({ Name: randomUUID(), Attributes, Tags });
    template.made(id, { ref: TopicArn });
  }
  type Subscription = { TopicArn: string; Protocol: string; Endpoint: string };
  for (const { id, ...given } of inputs<Subscription>(template, "AWS::SNS::Subscription")) {
    const { SubscriptionArn = "" } = await sns.subscribe(given);
    template.made(id, { ref: SubscriptionArn });
  }
}

async function makeRules(template: Template, { events }: Clients): Promise<void> {
  type Rule = Tagged & { Description: string; EventPattern: object; State: "ENABLED"; Targets: Target[] };
  for (const { id, EventPattern, Targets, ...given } of inputs<Rule>(template, "AWS::Events::Rule")) {
    const { Description, State, Tags } = given;
    const rule = { Name: id, Description, EventPattern: JSON.stringify(EventPattern), State, Tags };
    const { RuleArn = "" } = await events.putRule(rule);
    await events.putTargets({ Rule: id, Targets });
    template.made(id, { ref: id, attributes: { Arn: RuleArn } });
  }
}

/** The deployment runs it. */
function nameFunction(template: Template): void {
  const { id } = template.one("AWS::Lambda::Function");
  const Arn = `arn:aws:lambda:${REGION}:${ACCOUNT_ID}:function:${id}`;
  template.made(id, { ref: id, attributes: { Arn } });
  template.made(template.one("AWS::Lambda::Version").id, { ref: `${Arn}:7`, attributes: { Version: "7" } });
}

async function makeSchedules(template: Template, { scheduler }: Clients): Promise<void> {
  type Group = Tagged & { Name: string };
  for (const { id, Name, Tags } of inputs<Group>(template, "AWS::Scheduler::ScheduleGroup")) {
    const { ScheduleGroupArn = "" } = await scheduler.createScheduleGroup({ Name, Tags });
    template.made(id, { ref: Name, attributes: { Arn: ScheduleGroupArn } });
  }
  for (const { id, ...given } of inputs<CreateScheduleCommandInput>(template, "AWS::Scheduler::Schedule")) {
    await scheduler.createSchedule({ ...given, Name: id });
    template.made(id, { ref: id });
  }
}

async function makeWorkgroup(template: Template, { athena }: Clients): Promise<void> {
  type Workgroup = Tagged & {
    Name: string;
    Description: string;
    WorkGroupConfiguration: WorkGroupConfiguration;
  };
  for (const { id, Name, Description, Tags, ...given } of inputs<Workgroup>(
    template,
    "AWS::Athena::WorkGroup",
  )) {
    await athena.createWorkGroup({ Name, Description, Tags, Configuration: given.WorkGroupConfiguration });
    template.made(id, { ref: Name });
  }
  for (const { id, ...given } of inputs<CreateNamedQueryCommandInput>(template, "AWS::Athena::NamedQuery")) {
    const { NamedQueryId = "" } = await athena.createNamedQuery(given);
    template.made(id, { ref: NamedQueryId });
  }
}

async function makeRoles(template: Template, { iam }: Clients): Promise<void> {
  type Role = Tagged & { AssumeRolePolicyDocument: object; Description: string };
  for (const { id, Description, Tags, ...given } of inputs<Role>(template, "AWS::IAM::Role")) {
    const AssumeRolePolicyDocument = JSON.stringify(given.AssumeRolePolicyDocument);
    const { Role } = await iam.createRole({ RoleName: id, AssumeRolePolicyDocument, Description, Tags });
    template.made(id, { ref: id, attributes: { Arn: Role?.Arn ?? "" } });
  }
  type Policy = { PolicyName: string; PolicyDocument: object; Roles: [string] };
  for (const { PolicyName, Roles, ...given } of inputs<Policy>(template, "AWS::IAM::Policy")) {
    const PolicyDocument = JSON.stringify(given.PolicyDocument);
    await iam.putRolePolicy({ RoleName: Roles[0], PolicyName, PolicyDocument });
  }
  type Managed = { PolicyDocument: object; Description: string; Path: string };
  for (const { id, Description, Path, ...given } of inputs<Managed>(template, "AWS::IAM::ManagedPolicy")) {
    const policy = { PolicyName: randomUUID(), Description, Path };
    const { Policy: made } = await iam.createPolicy({
      ...policy,
      PolicyDocument: JSON.stringify(given.PolicyDocument),
    });
    template.made(id, { ref: made?.Arn ?? "" });
  }
}

async function makeAlarmsAndLog(template: Template, { cloudWatch, logs }: Clients): Promise<void> {
  for (const { id, ...given } of inputs<PutMetricAlarmCommandInput>(template, "AWS::CloudWatch::Alarm")) {
    await cloudWatch.putMetricAlarm(given);
    const Arn = `arn:aws:cloudwatch:${REGION}:${ACCOUNT_ID}:alarm:${given.AlarmName}`;
    template.made(id, { ref: given.AlarmName ?? "", attributes: { Arn } });
  }
  type LogGroup = Tagged & { RetentionInDays: number };
  for (const { id, RetentionInDays, Tags } of inputs<LogGroup>(template, "AWS::Logs::LogGroup")) {
    await logs.createLogGroup({ logGroupName: id, tags: mapOf(Tags) });
    await logs.putRetentionPolicy({ logGroupName: id, retentionInDays: RetentionInDays });
  }
  type Transformation = { MetricName: string; MetricNamespace: string; MetricValue: string };
  type Filter = { LogGroupName: string; FilterPattern: string; MetricTransformations: Transformation[] };
  for (const { id, ...given } of inputs<Filter>(template, "AWS::Logs::MetricFilter")) {
    await logs.putMetricFilter({
      logGroupName: given.LogGroupName,
      filterName: id,
      filterPattern: given.FilterPattern,
      metricTransformations: given.MetricTransformations.map((each) => ({
        metricName: each.MetricName,
        metricNamespace: each.MetricNamespace,
        metricValue: each.MetricValue,
      })),
    });
    template.made(id, { ref: id });
  }
  type Dashboard = { DashboardName: string; DashboardBody: string };
  for (const { id, DashboardName, DashboardBody } of inputs<Dashboard>(
    template,
    "AWS::CloudWatch::Dashboard",
  )) {
    await cloudWatch.putDashboard({ DashboardName, DashboardBody });
    template.made(id, { ref: DashboardName });
  }
}

async function makeBucket(template: Template, { s3 }: Clients, Bucket: string): Promise<void> {
  type Rule = Omit<LifecycleRule, "ID"> & {
    Id: string;
    ExpirationInDays?: number;
    ExpiredObjectDeleteMarker?: boolean;
  };
  type OwnBucket = Tagged & {
    LifecycleConfiguration: { Rules: Rule[] };
    OwnershipControls: OwnershipControls;
    PublicAccessBlockConfiguration: object;
  };
  for (const { LifecycleConfiguration, Tags, ...given } of inputs<OwnBucket>(template, "AWS::S3::Bucket")) {
    const { OwnershipControls, PublicAccessBlockConfiguration } = given;
    const Rules = LifecycleConfiguration.Rules.map(
      ({ Id, Prefix, ExpirationInDays: Days, ExpiredObjectDeleteMarker, ...rule }): LifecycleRule => ({
        ...rule,
        ID: Id,
        Filter: { Prefix: Prefix ?? "" },
        ...(Days === undefined && !ExpiredObjectDeleteMarker
          ? {}
          : { Expiration: { Days, ExpiredObjectDeleteMarker } }),
      }),
    );
    await s3.putBucketLifecycleConfiguration({ Bucket, LifecycleConfiguration: { Rules } });
    await s3.putPublicAccessBlock({ Bucket, PublicAccessBlockConfiguration });
    await s3.putBucketOwnershipControls({ Bucket, OwnershipControls });
    await s3.putBucketTagging({ Bucket, Tagging: { TagSet: Tags } });
    const ApplyServerSideEncryptionByDefault = { SSEAlgorithm: "AES256" } as const;
    await s3.putBucketEncryption({
      Bucket,
      ServerSideEncryptionConfiguration: { Rules: [{ ApplyServerSideEncryptionByDefault }] },
    });
  }
}

/** Policies of resources, which name what others are. The bucket's the emulator would enforce without its conditions. */
async function makePolicies(template: Template, { kms, sns, sqs }: Clients): Promise<void> {
  for (const { id, ...given } of inputs<{ KeyPolicy: object }>(template, "AWS::KMS::Key")) {
    const KeyId = String(template.resolve({ Ref: id }));
    await kms.putKeyPolicy({ KeyId, PolicyName: "default", Policy: JSON.stringify(given.KeyPolicy) });
  }
  type OfQueues = { PolicyDocument: object; Queues: string[] };
  for (const { Queues, PolicyDocument } of inputs<OfQueues>(template, "AWS::SQS::QueuePolicy")) {
    const Attributes = { Policy: JSON.stringify(PolicyDocument) };
    for (const QueueUrl of Queues) await sqs.setQueueAttributes({ QueueUrl, Attributes });
  }
  type OfTopics = { PolicyDocument: object; Topics: string[] };
  for (const { Topics, PolicyDocument } of inputs<OfTopics>(template, "AWS::SNS::TopicPolicy")) {
    const policy = { AttributeName: "Policy", AttributeValue: JSON.stringify(PolicyDocument) };
    for (const TopicArn of Topics) await sns.setTopicAttributes({ TopicArn, ...policy });
  }
}

async function tagSecrets(template: Template, { secrets }: Clients): Promise<void> {
  for (const { id, Tags } of inputs<Tagged>(template, "AWS::SecretsManager::Secret"))
    await secrets.tagResource({ SecretId: String(template.resolve({ Ref: id })), Tags });
}

/** References to what is not made resolve to this. */
function nameIfNone(template: Template, id: string): void {
  try {
    template.resolve({ Ref: id });
  } catch {
    template.made(id, { ref: id });
  }
}
