// What is deployed, as the rows of the acceptance look at it: the stack's outputs and resources, clients, the function.

import { Athena } from "@aws-sdk/client-athena";
import {
  CloudFormation,
  paginateListExports,
  paginateListStackResources,
} from "@aws-sdk/client-cloudformation";
import { CloudWatch } from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { EventBridge } from "@aws-sdk/client-eventbridge";
import { Glue } from "@aws-sdk/client-glue";
import { IAM } from "@aws-sdk/client-iam";
import { KMS } from "@aws-sdk/client-kms";
import { Lambda } from "@aws-sdk/client-lambda";
import { paginateListObjectsV2, S3 } from "@aws-sdk/client-s3";
import { Scheduler } from "@aws-sdk/client-scheduler";
import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import { SFN } from "@aws-sdk/client-sfn";
import { SNS } from "@aws-sdk/client-sns";
import { SQS } from "@aws-sdk/client-sqs";
import { z } from "zod";
import { awsClient } from "../../lambdas/job/network/aws-client.ts";
import { readProxies } from "../../lambdas/job/network/proxies.ts";
import { Template } from "../e2e/template.ts";
import { UNKNOWN } from "./differences.ts";

/** A run of a row waits so long for the function. */
const INVOCATION_MS = 16 * 60_000;

const templateSchema = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), DeletionPolicy: z.string().optional() })),
});

/** A resource of the deployment, as the template states it. */
export interface Stated {
  /** The name or ARN. */
  readonly id: string;
  readonly type: string;
  /** An app may have more in its stack than the deployment. */
  readonly isOwn: boolean;
  /** With `UNKNOWN` for each reference to what is not known here. */
  readonly properties: Readonly<Record<string, unknown>>;
}
/** The function's answer to one input. */
const answerSchema = z.record(z.string(), z.unknown());

export type Clients = ReturnType<typeof newClients>;

/**
 * @param environment with the credentials and the region, as every program of AWS reads them
 * @param given in place of those
 */
export function newClients(environment: Readonly<Record<string, string | undefined>>, given: object = {}) {
  const config = { ...awsClient(readProxies(environment)), ...given };
  const patient = { ...config.requestHandler, socketTimeout: INVOCATION_MS };
  return {
    athena: new Athena(config),
    cloudFormation: new CloudFormation(config),
    cloudWatch: new CloudWatch(config),
    events: new EventBridge(config),
    glue: new Glue(config),
    iam: new IAM(config),
    kms: new KMS(config),
    // An invocation that is sent again starts a second run.
    lambda: new Lambda({ ...config, maxAttempts: 1, requestHandler: patient }),
    logs: new CloudWatchLogs(config),
    s3: new S3(config),
    scheduler: new Scheduler(config),
    secrets: new SecretsManager(config),
    sns: new SNS(config),
    sqs: new SQS({ ...config, useQueueUrlAsEndpoint: false }),
    stepFunctions: new SFN(config),
  };
}

/** Throws the error of a failed invocation. */
export async function invoke({ lambda }: Pick<Clients, "lambda">, FunctionName: string, input: object) {
  const { Payload, FunctionError } = await lambda.invoke({ FunctionName, Payload: JSON.stringify(input) });
  const answer = answerSchema.parse(JSON.parse(Payload?.transformToString() || "{}"));
  if (FunctionError === undefined) return answer;
  throw new Error(`The function failed: ${String(answer["errorType"])}: ${String(answer["errorMessage"])}`);
}

/** What `Fn::GetAtt` gives, where it follows from the name of the resource. */
function attributesOf(type: string, id: string, stackId: string): Readonly<Record<string, string>> {
  const [, partition = "", , region = "", account = ""] = stackId.split(":");
  const arn = (service: string, resource: string, where = `${region}:${account}`) => ({
    Arn: `arn:${partition}:${service}:${where}:${resource}`,
  });
  switch (type) {
    case "AWS::CloudWatch::Alarm":
      return arn("cloudwatch", `alarm:${id}`);
    case "AWS::EC2::SecurityGroup":
      return { GroupId: id };
    case "AWS::Events::Rule":
      return arn("events", `rule/${id.replace("|", "/")}`);
    case "AWS::IAM::Role":
      return arn("iam", `role/${id}`, `:${account}`);
    case "AWS::KMS::Key":
      return arn("kms", `key/${id}`);
    case "AWS::Lambda::Function":
      return arn("lambda", `function:${id}`);
    case "AWS::Lambda::Version":
      return { Version: id.split(":").at(-1) ?? "" };
    case "AWS::Logs::LogGroup":
      return arn("logs", `log-group:${id}:*`);
    case "AWS::S3::Bucket":
      return arn("s3", id, ":");
    case "AWS::Scheduler::ScheduleGroup":
      return arn("scheduler", `schedule-group/${id}`);
    case "AWS::SQS::Queue": {
      const QueueName = id.split("/").at(-1) ?? "";
      return { ...arn("sqs", QueueName), QueueName };
    }
    default:
      return {};
  }
}

const statusSchema = z.object({
  head: z.object({ snapshot_id: z.string(), pinned: z.boolean().optional() }).nullable(),
});

/** The publication that readers see, as the function's status has it; null for none. */
export async function readHead(clients: Pick<Clients, "lambda">, functionName: string, account: string) {
  return statusSchema.parse(await invoke(clients, functionName, { action: "status", account })).head;
}

/** Of all stacks of the AWS account. */
async function exportsOf(client: CloudFormation) {
  return (await Array.fromAsync(paginateListExports({ client }, {}), ({ Exports = [] }) => Exports)).flat();
}

export type Deployed = Awaited<ReturnType<typeof readDeployment>>;

/** Throws for a stack that is not there, or has not exactly one deployment. */
export async function readDeployment(clients: Clients, StackName: string) {
  const { cloudFormation, lambda, s3 } = clients;
  const { Stacks: [stack] = [] } = await cloudFormation.describeStacks({ StackName });
  const all = (stack?.Outputs ?? []).map(
    ({ OutputKey = "", OutputValue = "" }) => [OutputKey, OutputValue] as const,
  );
  const workgroups = all.filter(([key]) => key.endsWith("Step4Query"));
  const [[key = ""] = []] = workgroups;
  if (workgroups.length !== 1) {
    throw new Error(`The stack ${StackName} has ${workgroups.length} deployments; expected one.`);
  }
  const prefix = key.slice(0, -"Step4Query".length);
  const outputs = new Map(all.map(([name, value]) => [name.slice(prefix.length), value]));
  const pages = paginateListStackResources({ client: cloudFormation }, { StackName });
  const resources = (await Array.fromAsync(pages, (page) => page.StackResourceSummaries ?? [])).flat();
  const { TemplateBody = "" } = await cloudFormation.getTemplate({ StackName });
  const ofTemplate = Object.values(templateSchema.parse(JSON.parse(TemplateBody)).Resources);
  const template = new Template(TemplateBody, stack?.StackId ?? "");
  for (const { ParameterKey = "", ParameterValue = "" } of stack?.Parameters ?? [])
    template.made(ParameterKey, { ref: ParameterValue });
  for (const { Name = "", Value = "" } of await exportsOf(cloudFormation)) template.exported(Name, Value);
  const named = new Map(
    resources.map(({ LogicalResourceId: key = "", PhysicalResourceId: ref = "", ResourceType = "" }) => {
      template.made(key, { ref, attributes: attributesOf(ResourceType, ref, stack?.StackId ?? "") });
      return [key, ref];
    }),
  );

  const output = (name: string): string => {
    const value = outputs.get(name);
    if (value === undefined) throw new Error(`The stack has no output ${name}.`);
    return value;
  };
  /** The name or ARN of each resource of a type. */
  const ofType = (type: string): readonly string[] =>
    resources.flatMap(({ ResourceType, PhysicalResourceId = "" }) =>
      ResourceType === type ? [PhysicalResourceId] : [],
    );
  /** The path of the construct, with a slash: an app may have more in its stack. */
  const [home = ""] = template
    .all("AWS::Athena::WorkGroup")
    .filter(({ id }) => named.get(id) === output("Step4Query"))
    .map(({ path }) => path.replace(/Analysis\/Workgroup$/, ""));
  const FunctionName = `${output("FunctionName")}:live`;
  const stackArn = (stack?.StackId ?? "").split(":").slice(0, 5);
  const arn = (service: string, resource: string): string =>
    [...stackArn.with(2, service), resource].join(":");
  /** Without what a condition of the template leaves out. */
  const statedInStack = (type: string): readonly Stated[] =>
    template.all(type).flatMap((resource): Stated[] => {
      const id = named.get(resource.id);
      if (id === undefined) return [];
      const properties = template.resolve(resource.properties, UNKNOWN);
      const isOwn = resource.path.startsWith(home);
      return [{ id, type, isOwn, properties: z.record(z.string(), z.unknown()).parse(properties) }];
    });
  const bucket = output("WarehouseLocation").replace("s3://", "");
  return {
    clients,
    status: stack?.StackStatus ?? "",
    resources,
    stackTags: new Map((stack?.Tags ?? []).map(({ Key = "", Value }) => [Key, Value])),
    stackName: StackName,
    arn,
    functionArns: [FunctionName, output("FunctionName")].map((name) => arn("lambda", `function:${name}`)),
    /** Of the template's resources, each once. */
    types: [...new Set(ofTemplate.map(({ Type }) => Type))],
    /** The types of what a deletion of the stack leaves. */
    kept: ofTemplate.flatMap(({ Type, DeletionPolicy = "" }) =>
      DeletionPolicy.startsWith("Retain") ? [Type] : [],
    ),
    output,
    ofType,
    statedInStack,
    /** What the deployment has of a type. */
    stated: (type: string) => statedInStack(type).filter(({ isOwn }) => isOwn),
    isOwn: (logicalId: string) => template.pathOf(logicalId).startsWith(home),
    /** From the commands of the outputs. */
    accounts: [...outputs].flatMap(([name, command]) => {
      const [, account] = /"account":"([^"]+)"/.exec(command) ?? [];
      return name.startsWith("Step2Check") && account !== undefined ? [account] : [];
    }),
    bucket,
    database: ofType("AWS::Glue::Database")[0] ?? "",

    functionName: FunctionName,
    invoke: (input: object) => invoke(clients, FunctionName, input),

    /** Returns when Lambda has taken the event. */
    start: (input: object) =>
      lambda.invoke({ FunctionName, InvocationType: "Event", Payload: JSON.stringify(input) }),

    /** Keys below a folder, in order. */
    keys: async (folder: string): Promise<readonly string[]> => {
      const pages = paginateListObjectsV2({ client: s3 }, { Bucket: bucket, Prefix: folder });
      const found = await Array.fromAsync(pages, ({ Contents = [] }) => Contents.map(({ Key = "" }) => Key));
      return found.flat();
    },

    /** An object of JSON. */
    read: async (Key: string): Promise<unknown> => {
      const { Body } = await s3.getObject({ Bucket: bucket, Key });
      return JSON.parse((await Body?.transformToString()) ?? "");
    },
  };
}
