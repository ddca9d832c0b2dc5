// A deployment as the acceptance finds it: the resources of the template on the emulator, made as CloudFormation would, and
// before it what answers for CloudFormation, for the function and its state machine, and for IAM's simulation.

import { randomUUID } from "node:crypto";
import type { CreateNamedQueryCommandInput, WorkGroupConfiguration } from "@aws-sdk/client-athena";
import type { PutMetricAlarmCommandInput } from "@aws-sdk/client-cloudwatch";
import type { Target } from "@aws-sdk/client-eventbridge";
import type { CreateScheduleCommandInput } from "@aws-sdk/client-scheduler";
import { z } from "zod";
import { AwsProxy, type Carried, type Fault, jsonResponse, queryResponse } from "../aws/aws-proxy.ts";
import { awsConfig, emulator } from "../aws/emulator.ts";
import { ACCOUNT_ID, REGION } from "../e2e/aws-call.ts";
import type { Deployment } from "../e2e/deployment.ts";
import { isAllowed, parseStatements } from "../e2e/policy.ts";
import type { Template } from "../e2e/template.ts";
import { statesResponse } from "../states/states-engine.ts";
import { type Clients, newClients } from "./deployment.ts";

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
    if (asked.url.includes("/functions/") || call.endsWith(".DescribeStateMachine")) {
      const key = [...recorded.keys()].find((each) => `${asked.url.split("?")[0]} ${call}`.includes(each));
      const answer = recorded.get(key ?? "");
      return answer === undefined
        ? jsonResponse("ResourceNotFoundException", "It is not there", 404)
        : { status: 200, body: JSON.stringify(answer), headers: { "content-type": "application/json" } };
    }
    return statesResponse(deployment.stateMachine.engine, asked, carried);
  };
  return { url: proxy.url, clients, recorded, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() };
}

/** As AWS documents them, filled from the template. */
function recordedAnswers({ template }: Deployment): Map<string, object> {
  const of = (type: string) => JSON.parse(JSON.stringify(template.resolve(template.one(type).properties)));
  const { DestinationConfig, ...invocations } = of("AWS::Lambda::EventInvokeConfig");
  const { Action, FunctionName: Resource, Principal, SourceArn } = of("AWS::Lambda::Permission");
  const ArnLike = { "AWS:SourceArn": SourceArn };
  const statement = { Sid: "1", Effect: "Allow", Principal: { Service: Principal }, Action, Resource };
  const machine = of("AWS::StepFunctions::StateMachine");
  return new Map<string, object>([
    ["/configuration", { ...of("AWS::Lambda::Function"), State: "Active" }],
    ["/aliases/live", { ...of("AWS::Lambda::Alias"), Description: "" }],
    ["/event-invoke-config", { ...invocations, DestinationConfig: { OnSuccess: {}, ...DestinationConfig } }],
    ["/policy", { Policy: JSON.stringify({ Statement: [{ ...statement, Condition: { ArnLike } }] }) }],
    [
      "DescribeStateMachine",
      {
        stateMachineArn: template.output("StateMachineArn"),
        name: machine.StateMachineName,
        status: "ACTIVE",
        type: machine.StateMachineType,
        definition: machine.DefinitionString,
        roleArn: machine.RoleArn,
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
  for (const { id } of template.all("AWS::KMS::Key")) {
    template.made(id, { ref: id, attributes: { Arn: `arn:aws:kms:${REGION}:${ACCOUNT_ID}:key/${id}` } });
  }
  for (const { id } of template.all("AWS::SQS::Queue")) {
    const ref = `https://sqs.${REGION}.amazonaws.com/${ACCOUNT_ID}/${id}`;
    const Arn = `arn:aws:sqs:${REGION}:${ACCOUNT_ID}:${id}`;
    template.made(id, { ref, attributes: { Arn, QueueName: id } });
  }
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
  const { Resources } = JSON.parse(template.body);
  for (const id of Object.keys(Resources)) nameIfNone(template, id);
}

/** The API's words are those of CloudFormation, and it refuses what is not as it expects. */
function* inputs<Input>(template: Template, type: string): Generator<{ readonly id: string } & Input> {
  for (const { id, properties } of template.all(type)) {
    yield { ...JSON.parse(JSON.stringify(template.resolve(properties))), id };
  }
}

async function makeTopic(template: Template, { sns }: Clients): Promise<void> {
  for (const { id, KmsMasterKeyId } of inputs<{ KmsMasterKeyId: string }>(template, "AWS::SNS::Topic")) {
    const { TopicArn = "" } = await sns.createTopic({ Name: randomUUID(), Attributes: { KmsMasterKeyId } });
    template.made(id, { ref: TopicArn });
  }
  type Subscription = { TopicArn: string; Protocol: string; Endpoint: string };
  for (const { id, ...given } of inputs<Subscription>(template, "AWS::SNS::Subscription")) {
    const { SubscriptionArn = "" } = await sns.subscribe(given);
    template.made(id, { ref: SubscriptionArn });
  }
}

async function makeRules(template: Template, { events }: Clients): Promise<void> {
  type Rule = { EventPattern: object; State: "ENABLED"; Targets: Target[] };
  for (const { id, EventPattern, State, Targets } of inputs<Rule>(template, "AWS::Events::Rule")) {
    const rule = { Name: id, EventPattern: JSON.stringify(EventPattern), State };
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
  for (const { id, Name } of inputs<{ Name: string }>(template, "AWS::Scheduler::ScheduleGroup")) {
    const { ScheduleGroupArn = "" } = await scheduler.createScheduleGroup({ Name });
    template.made(id, { ref: Name, attributes: { Arn: ScheduleGroupArn } });
  }
  for (const { id, ...given } of inputs<CreateScheduleCommandInput>(template, "AWS::Scheduler::Schedule")) {
    await scheduler.createSchedule({ ...given, Name: id });
    template.made(id, { ref: id });
  }
}

async function makeWorkgroup(template: Template, { athena }: Clients): Promise<void> {
  type Workgroup = { Name: string; WorkGroupConfiguration: WorkGroupConfiguration };
  for (const { id, Name, ...given } of inputs<Workgroup>(template, "AWS::Athena::WorkGroup")) {
    await athena.createWorkGroup({ Name, Configuration: given.WorkGroupConfiguration });
    template.made(id, { ref: Name });
  }
  for (const { id, ...given } of inputs<CreateNamedQueryCommandInput>(template, "AWS::Athena::NamedQuery")) {
    const { NamedQueryId = "" } = await athena.createNamedQuery(given);
    template.made(id, { ref: NamedQueryId });
  }
}

async function makeRoles(template: Template, { iam }: Clients): Promise<void> {
  for (const { id, ...given } of inputs<{ AssumeRolePolicyDocument: object }>(template, "AWS::IAM::Role")) {
    const AssumeRolePolicyDocument = JSON.stringify(given.AssumeRolePolicyDocument);
    const { Role } = await iam.createRole({ RoleName: id, AssumeRolePolicyDocument });
    template.made(id, { ref: id, attributes: { Arn: Role?.Arn ?? "" } });
  }
  type Policy = { PolicyName: string; PolicyDocument: object; Roles: [string] };
  for (const { PolicyName, Roles, ...given } of inputs<Policy>(template, "AWS::IAM::Policy")) {
    const PolicyDocument = JSON.stringify(given.PolicyDocument);
    await iam.putRolePolicy({ RoleName: Roles[0], PolicyName, PolicyDocument });
  }
  for (const { id, ...given } of inputs<{ PolicyDocument: object }>(template, "AWS::IAM::ManagedPolicy")) {
    const PolicyDocument = JSON.stringify(given.PolicyDocument);
    const { Policy: made } = await iam.createPolicy({ PolicyName: randomUUID(), PolicyDocument });
    template.made(id, { ref: made?.Arn ?? "" });
  }
}

async function makeAlarmsAndLog(template: Template, { cloudWatch, logs }: Clients): Promise<void> {
  for (const { id, ...given } of inputs<PutMetricAlarmCommandInput>(template, "AWS::CloudWatch::Alarm")) {
    await cloudWatch.putMetricAlarm(given);
    template.made(id, { ref: given.AlarmName ?? "" });
  }
  for (const { id, RetentionInDays } of inputs<{ RetentionInDays: number }>(
    template,
    "AWS::Logs::LogGroup",
  )) {
    await logs.createLogGroup({ logGroupName: id });
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
}

async function makeBucket(template: Template, { s3 }: Clients, Bucket: string): Promise<void> {
  type Rule = { Prefix?: string; ExpirationInDays?: number };
  type OwnBucket = { LifecycleConfiguration: { Rules: Rule[] }; PublicAccessBlockConfiguration: object };
  for (const { LifecycleConfiguration, ...given } of inputs<OwnBucket>(template, "AWS::S3::Bucket")) {
    const { PublicAccessBlockConfiguration } = given;
    const expiring = LifecycleConfiguration.Rules.flatMap(({ Prefix = "", ExpirationInDays: Days }) =>
      Days === undefined ? [] : [{ Status: "Enabled" as const, Filter: { Prefix }, Expiration: { Days } }],
    );
    await s3.putBucketLifecycleConfiguration({ Bucket, LifecycleConfiguration: { Rules: expiring } });
    await s3.putPublicAccessBlock({ Bucket, PublicAccessBlockConfiguration });
    const ApplyServerSideEncryptionByDefault = { SSEAlgorithm: "AES256" } as const;
    await s3.putBucketEncryption({
      Bucket,
      ServerSideEncryptionConfiguration: { Rules: [{ ApplyServerSideEncryptionByDefault }] },
    });
  }
}

/** References to what is not made resolve to this. */
function nameIfNone(template: Template, id: string): void {
  try {
    template.resolve({ Ref: id });
  } catch {
    template.made(id, { ref: id });
  }
}
