// What is deployed, as the rows of the acceptance look at it: the stack's outputs and resources, clients, the function.

import { AthenaClient } from "@aws-sdk/client-athena";
import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  paginateListStackResources,
  type StackResourceSummary,
} from "@aws-sdk/client-cloudformation";
import { CloudWatchClient } from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { GlueClient } from "@aws-sdk/client-glue";
import { IAMClient } from "@aws-sdk/client-iam";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SNSClient } from "@aws-sdk/client-sns";
import { z } from "zod";
import { awsClient } from "../../lambdas/job/network/aws-client.ts";
import { readProxies } from "../../lambdas/job/network/proxies.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";

/** A run of a row waits so long for the function. */
const INVOCATION_MS = 16 * 60_000;

const templateSchema = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), DeletionPolicy: z.string().optional() })),
});
const answerSchema = z.record(z.string(), z.unknown());

/** The function's answer to one input. */
export type Answer = Readonly<Record<string, unknown>>;

export type Clients = ReturnType<typeof newClients>;

/** @param environment with the credentials and the region, as every program of AWS reads them */
export function newClients(environment: Readonly<Record<string, string | undefined>>) {
  const config = awsClient(readProxies(environment));
  return {
    athena: new AthenaClient(config),
    cloudFormation: new CloudFormationClient(config),
    cloudWatch: new CloudWatchClient(config),
    events: new EventBridgeClient(config),
    glue: new GlueClient(config),
    iam: new IAMClient(config),
    // An invocation that is sent again starts a second run.
    lambda: new LambdaClient({
      ...config,
      maxAttempts: 1,
      requestHandler: { ...config.requestHandler, socketTimeout: INVOCATION_MS },
    }),
    logs: new CloudWatchLogsClient(config),
    s3: new S3Client(config),
    scheduler: new SchedulerClient(config),
    sns: new SNSClient(config),
  };
}

export class Deployed {
  readonly clients: Clients;
  readonly status: string;
  readonly resources: readonly StackResourceSummary[];
  /** The types of what a deletion of the stack leaves. */
  readonly kept: readonly string[];
  readonly #outputs: ReadonlyMap<string, string>;

  private constructor(
    { clients, status, resources, kept }: Pick<Deployed, "clients" | "status" | "resources" | "kept">,
    outputs: ReadonlyMap<string, string>,
  ) {
    this.clients = clients;
    this.status = status;
    this.resources = resources;
    this.kept = kept;
    this.#outputs = outputs;
  }

  /** Throws for a stack that is not there, or has not exactly one deployment. */
  static async read(clients: Clients, StackName: string): Promise<Deployed> {
    const { Stacks: [stack] = [] } = await clients.cloudFormation.send(
      new DescribeStacksCommand({ StackName }),
    );
    if (stack === undefined) throw new Error(`There is no stack ${StackName}.`);
    const outputs = (stack.Outputs ?? []).map(
      ({ OutputKey = "", OutputValue = "" }) => [OutputKey, OutputValue] as const,
    );
    const workgroups = outputs.filter(([key]) => key.endsWith("Step4Query"));
    const [[key = ""] = []] = workgroups;
    if (workgroups.length !== 1) {
      throw new Error(`The stack ${StackName} has ${workgroups.length} deployments; expected one.`);
    }
    const prefix = key.slice(0, -"Step4Query".length);
    const resources: StackResourceSummary[] = [];
    for await (const page of paginateListStackResources({ client: clients.cloudFormation }, { StackName })) {
      resources.push(...(page.StackResourceSummaries ?? []));
    }
    const { TemplateBody = "{}" } = await clients.cloudFormation.send(new GetTemplateCommand({ StackName }));
    const kept = Object.values(templateSchema.parse(JSON.parse(TemplateBody)).Resources).flatMap(
      ({ Type, DeletionPolicy = "Delete" }) => (DeletionPolicy.startsWith("Retain") ? [Type] : []),
    );
    const named = outputs.map(([name, value]) => [name.slice(prefix.length), value] as const);
    return new Deployed({ clients, status: stack.StackStatus ?? "", resources, kept }, new Map(named));
  }

  output(name: string): string {
    const value = this.#outputs.get(name);
    if (value === undefined) throw new Error(`The stack has no output ${name}.`);
    return value;
  }

  /** The name or ARN of each resource of a type. */
  all(type: string): readonly string[] {
    return this.resources.flatMap(({ ResourceType, PhysicalResourceId }) =>
      ResourceType === type && PhysicalResourceId !== undefined ? [PhysicalResourceId] : [],
    );
  }

  only(type: string): string {
    const [found, ...others] = this.all(type);
    if (found === undefined || others.length > 0) throw new Error(`The stack has not exactly one ${type}.`);
    return found;
  }

  /** From the commands of the outputs. */
  get accounts(): readonly string[] {
    return [...this.#outputs].flatMap(([name, command]) => {
      const [, account] = /"account":"([^"]+)"/.exec(command) ?? [];
      return name.startsWith("Step2Check") && account !== undefined ? [account] : [];
    });
  }

  get bucket(): string {
    return this.output("WarehouseLocation").replace("s3://", "");
  }

  get database(): string {
    return this.only("AWS::Glue::Database");
  }

  /** Throws the error of a failed invocation. */
  async invoke(input: object): Promise<Answer> {
    const { Payload, FunctionError } = await this.clients.lambda.send(
      new InvokeCommand({
        FunctionName: `${this.output("FunctionName")}:live`,
        Payload: JSON.stringify(input),
      }),
    );
    const answer = answerSchema.parse(JSON.parse(Payload?.transformToString() || "{}"));
    if (FunctionError === undefined) return answer;
    throw new Error(`The function failed: ${String(answer["errorType"])}: ${String(answer["errorMessage"])}`);
  }

  /** Returns when Lambda has taken the event. */
  async start(input: object): Promise<void> {
    await this.clients.lambda.send(
      new InvokeCommand({
        FunctionName: `${this.output("FunctionName")}:live`,
        InvocationType: "Event",
        Payload: JSON.stringify(input),
      }),
    );
  }

  /** Keys below a folder, in order; the first thousand. */
  async keys(folder: string): Promise<readonly string[]> {
    const { Contents = [] } = await this.clients.s3.send(
      new ListObjectsV2Command({ Bucket: this.bucket, Prefix: folder }),
    );
    return Contents.map(({ Key = "" }) => Key);
  }

  async hasPublished(account: string): Promise<boolean> {
    return (await this.keys(layout(account).publications)).length > 0;
  }
}
