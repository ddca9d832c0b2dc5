// A deployment as the acceptance finds it: what it reads of the stack made on the emulator as the template says, with
// CloudFormation and Lambda in front of it.

import { randomUUID } from "node:crypto";
import { CloudWatch } from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { EventBridge } from "@aws-sdk/client-eventbridge";
import { IAM } from "@aws-sdk/client-iam";

import { S3 } from "@aws-sdk/client-s3";
import { SNS } from "@aws-sdk/client-sns";
import { z } from "zod";
import { AwsProxy, type Carried, type Fault } from "../aws/aws-proxy.ts";
import { awsConfig, emulator } from "../aws/emulator.ts";
import type { Deployment } from "../e2e/deployment.ts";
import type { Template } from "../e2e/template.ts";

const bodySchema = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string() })),
  Outputs: z.record(z.string(), z.unknown()),
});
const rulesSchema = z.object({
  Rules: z.array(z.object({ Prefix: z.string().optional(), ExpirationInDays: z.number().optional() })),
});
const alarmSchema = z.object({
  AlarmName: z.string(),
  AlarmActions: z.array(z.unknown()).default([]),
  OKActions: z.array(z.unknown()).default([]),
});

export interface EmulatedStack extends AsyncDisposable {
  readonly url: string;
  readonly cloudWatch: CloudWatch;
}

export async function emulatedStack(deployment: Deployment): Promise<EmulatedStack> {
  const { template } = deployment;
  const { Resources, Outputs } = bodySchema.parse(JSON.parse(template.body));
  const config = awsConfig();
  const cloudWatch = new CloudWatch(config);
  await makeTopicAndPolicy(deployment, config);
  for (const id of Object.keys(Resources)) nameIfNone(template, id);
  await makeBucket(deployment, config);
  await makeAlarms(template, cloudWatch);
  await makeLogAndRules(template, config);
  const resources = Object.entries(Resources).map(([id, { Type }]) => ({
    LogicalResourceId: id,
    PhysicalResourceId: String(template.resolve({ Ref: id })),
    ResourceType: Type,
    ResourceStatus: "CREATE_COMPLETE",
    LastUpdatedTimestamp: "2026-11-23T00:00:00Z",
  }));
  const outputs = Object.keys(Outputs).map((key) => ({ OutputKey: key, OutputValue: template.output(key) }));
  const stack = {
    StackName: "Stack",
    StackStatus: "CREATE_COMPLETE",
    CreationTime: "2026-11-23T00:00:00Z",
    Outputs: outputs,
  };
  const answers: Readonly<Record<string, object>> = {
    DescribeStacks: { Stacks: [stack] },
    ListStackResources: { StackResourceSummaries: resources },
    GetTemplate: { TemplateBody: template.body },
  };
  const proxy = await AwsProxy.start(emulator());
  proxy.fault = ({ url }, { headers, body }) => {
    if (headers.authorization?.includes("/cloudformation/")) {
      const action = new URLSearchParams(body.toString()).get("Action") ?? "";
      return {
        status: 200,
        body: xmlOf({ [`${action}Response`]: { [`${action}Result`]: answers[action] ?? {} } }),
      };
    }
    return url.includes("/functions/") ? invoked(deployment, headers, body) : undefined;
  };
  return { url: proxy.url, cloudWatch, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() };
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

/** CloudFormation's lists have members. */
function xmlOf(value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => `<member>${xmlOf(each)}</member>`).join("");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([name, each]) => `<${name}>${xmlOf(each)}</${name}>`)
      .join("");
  }
  return String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

type Config = ReturnType<typeof awsConfig>;

async function makeTopicAndPolicy({ template }: Deployment, config: Config): Promise<void> {
  const [sns, iam] = [new SNS(config), new IAM(config)];
  const { TopicArn = "" } = await sns.createTopic({
    Name: randomUUID(),
    Attributes: { KmsMasterKeyId: "alias/alarms" },
  });
  await sns.subscribe({ TopicArn, Protocol: "email", Endpoint: "team@example.com" });
  template.made(template.one("AWS::SNS::Topic").id, { ref: TopicArn });
  const policy = template.one("AWS::IAM::ManagedPolicy");
  nameIfNone(template, template.one("AWS::Athena::WorkGroup").id, "Stack");
  const PolicyDocument = JSON.stringify(template.resolve(policy.properties["PolicyDocument"]));
  const { Policy } = await iam.createPolicy({ PolicyName: randomUUID(), PolicyDocument });
  template.made(policy.id, { ref: Policy?.Arn ?? "" });
}

async function makeBucket({ template, bucket: Bucket }: Deployment, config: Config): Promise<void> {
  const s3 = new S3(config);
  const { LifecycleConfiguration } = template.one("AWS::S3::Bucket").properties;
  const { Rules } = rulesSchema.parse(LifecycleConfiguration);
  const expiring = Rules.flatMap(({ Prefix = "", ExpirationInDays: Days }) =>
    Days === undefined ? [] : [{ Status: "Enabled" as const, Filter: { Prefix }, Expiration: { Days } }],
  );
  await s3.putBucketLifecycleConfiguration({ Bucket, LifecycleConfiguration: { Rules: expiring } });
  const all = {
    BlockPublicAcls: true,
    BlockPublicPolicy: true,
    IgnorePublicAcls: true,
    RestrictPublicBuckets: true,
  };
  await s3.putPublicAccessBlock({ Bucket, PublicAccessBlockConfiguration: all });
  const ApplyServerSideEncryptionByDefault = { SSEAlgorithm: "AES256" } as const;
  await s3.putBucketEncryption({
    Bucket,
    ServerSideEncryptionConfiguration: { Rules: [{ ApplyServerSideEncryptionByDefault }] },
  });
}

async function makeAlarms(template: Template, cloudWatch: CloudWatch): Promise<void> {
  for (const { id, properties } of template.all("AWS::CloudWatch::Alarm")) {
    const { AlarmName, AlarmActions, OKActions } = alarmSchema.parse(properties);
    template.made(id, { ref: AlarmName });
    const actions = [AlarmActions, OKActions].map((list) =>
      list.map((each) => String(template.resolve(each))),
    );
    await putAlarm(cloudWatch, AlarmName, actions[0], actions[1]);
  }
}

/** What it watches is no matter here. */
export async function putAlarm(
  cloudWatch: CloudWatch,
  AlarmName: string,
  AlarmActions: string[] = [],
  OKActions: string[] = [],
): Promise<void> {
  await cloudWatch.putMetricAlarm({
    AlarmName,
    AlarmActions,
    OKActions,
    ComparisonOperator: "GreaterThanThreshold",
    EvaluationPeriods: 1,
    MetricName: "Any",
    Namespace: "Any",
    Period: 60,
    Statistic: "Sum",
    Threshold: 1,
  });
}

async function makeLogAndRules(template: Template, config: Config): Promise<void> {
  const logs = new CloudWatchLogs(config);
  const group = template.one("AWS::Logs::LogGroup");
  const logGroupName = String(template.resolve({ Ref: group.id }));
  await logs.createLogGroup({ logGroupName });
  const retentionInDays = Number(group.properties["RetentionInDays"]);
  await logs.putRetentionPolicy({ logGroupName, retentionInDays });
  const events = new EventBridge(config);
  // Nothing is delivered: what rules match is not shown here.
  for (const { id } of template.all("AWS::Events::Rule")) {
    await events.putRule({ Name: id, EventPattern: '{"source":["never"]}' });
    await events.putTargets({ Rule: id, Targets: [{ Id: "1", Arn: "arn:aws:sns:eu-west-1:1:t" }] });
  }
}

/** References to what is not made resolve to this. */
function nameIfNone(template: Template, id: string, ref = id): void {
  try {
    template.resolve({ Ref: id });
  } catch {
    template.made(id, { ref });
  }
}
