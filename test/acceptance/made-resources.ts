// The resources of a template, made on the emulator as CloudFormation would. What the emulator does not have gets a name.

import { randomUUID } from "node:crypto";
import type { CreateNamedQueryCommandInput, WorkGroupConfiguration } from "@aws-sdk/client-athena";
import type { PutMetricAlarmCommandInput } from "@aws-sdk/client-cloudwatch";
import type { Target } from "@aws-sdk/client-eventbridge";
import type { CreateScheduleCommandInput } from "@aws-sdk/client-scheduler";
import { ACCOUNT_ID, REGION } from "../e2e/aws-call.ts";
import type { Deployment } from "../e2e/deployment.ts";
import type { Template } from "../e2e/template.ts";
import type { Clients } from "./deployment.ts";

/** Each step refers only to those before it, and to what the deployment has made already. */
export async function makeResources({ template, bucket }: Deployment, clients: Clients): Promise<void> {
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
