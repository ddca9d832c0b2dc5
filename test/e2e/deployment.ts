// The stack as far as the function needs it: its resources made on the emulator as the template says, and the bundle
// behind a Lambda Runtime API and the state machine, with all its calls to AWS recorded.

import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { CreateBucketCommand, PutBucketVersioningCommand } from "@aws-sdk/client-s3";
import { CreateSecretCommand, PutSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { z } from "zod";
import { FUNCTION_FILE_NAME, readEnvironment } from "../../lambdas/sync/environment.ts";
import { type AwsClients, awsClients, awsEnvironment, emulator } from "../aws/emulator.ts";
import type { TaskResult } from "../states/execution.ts";
import { SkippingClock, StatesEngine, type StatusChange, statesResponse } from "../states/states-engine.ts";
import { ACCOUNT_ID, REGION } from "./aws-call.ts";
import { AwsRecorder } from "./aws-recorder.ts";
import { EventRule } from "./event-rule.ts";
import { type FunctionDefinition, type InvocationResult, LambdaFunction } from "./lambda-function.ts";
import type { Statement } from "./policy.ts";
import { functionStatements, makeNames } from "./role-statements.ts";
import { synth, Template } from "./template.ts";

const functionSchema = z.object({
  Handler: z.string(),
  MemorySize: z.number(),
  Timeout: z.number(),
  Code: z.object({ S3Key: z.string() }),
  Environment: z.object({ Variables: z.record(z.string(), z.string()) }),
});
export interface Deployment extends AsyncDisposable {
  readonly template: Template;
  readonly recorder: AwsRecorder;
  readonly function: LambdaFunction;
  readonly stateMachine: DeployedStateMachine;
  readonly clients: AwsClients;
  readonly bucket: string;
  readonly database: string;
  /** All statements of the function's role and of the bucket's policy. */
  readonly statements: readonly Statement[];
  /** The value of an output of the stack. */
  readonly output: (name: string) => string;
  /** Fills an account's secret. */
  readonly fillSecret: (account: string, value: object) => Promise<void>;
}

/** @param eventSync the value of `context.eventSync` in `cdk.json`. */
export async function deploy(eventSync: object): Promise<Deployment> {
  const directory = await synth({ ...eventSync, database: `e2e_${randomUUID().replaceAll("-", "_")}` });
  const template = await Template.read(directory);
  const clients = awsClients();
  await makeResources(template, clients);
  const recorder = await AwsRecorder.start();
  const definition = definitionOf(template, recorder);
  const { bucket, database, accounts, stateMachineArn } = readEnvironment(
    definition.environment,
    await readFile(join(definition.directory, FUNCTION_FILE_NAME), "utf8"),
  );
  const lambda = new LambdaFunction(definition);
  const alias = template.one("AWS::Lambda::Alias").id;
  const aliasArn = `arn:aws:lambda:${REGION}:${ACCOUNT_ID}:function:${definition.name}:live`;
  template.made(alias, { ref: aliasArn });
  const stateMachine = new DeployedStateMachine(template, lambda, aliasArn, stateMachineArn);
  recorder.answerWith((asked, carried) => statesResponse(stateMachine.engine, asked, carried));
  return {
    template,
    recorder,
    function: lambda,
    stateMachine,
    clients,
    bucket,
    database,
    statements: functionStatements(template),
    output: (name) => template.output(name),
    fillSecret: async (account, value) => {
      const SecretId = accounts[account]?.secretId;
      await clients.secrets.send(
        new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(value) }),
      );
    },
    [Symbol.asyncDispose]: async () => {
      await lambda[Symbol.asyncDispose]();
      await recorder[Symbol.asyncDispose]();
      await rm(directory, { recursive: true });
    },
  };
}

async function makeResources(template: Template, { s3, secrets }: AwsClients): Promise<void> {
  makeNames(template);
  const bucket = template.one("AWS::S3::Bucket");
  const Bucket = `e2e-${randomUUID()}`;
  await s3.send(
    new CreateBucketCommand({ Bucket, CreateBucketConfiguration: { LocationConstraint: REGION } }),
  );
  const Status = z
    .object({ Status: z.literal("Enabled") })
    .parse(bucket.properties["VersioningConfiguration"]);
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: Status }));
  template.made(bucket.id, { ref: Bucket, attributes: { Arn: `arn:aws:s3:::${Bucket}` } });

  for (const { id, properties } of template.all("AWS::SecretsManager::Secret")) {
    const { Name, Description } = z
      .strictObject({ Name: z.string(), Description: z.string(), Tags: z.unknown() }) // no value of any kind
      .parse(template.resolve(properties));
    const { ARN = "" } = await secrets.send(new CreateSecretCommand({ Name, Description }));
    template.made(id, { ref: ARN });
  }

  for (const [type, operation, input] of [
    ["AWS::Glue::Database", "CreateDatabase", "DatabaseInput"],
    ["AWS::Glue::Table", "CreateTable", "TableInput"],
  ] as const) {
    for (const { id, properties } of template.all(type)) {
      const resolved = z.record(z.string(), z.unknown()).parse(template.resolve(properties));
      await glue(operation, resolved);
      const name = z.object({ Name: z.string().default(id) }).parse(resolved[input]);
      template.made(id, { ref: name.Name });
    }
  }
}

/** CloudFormation's properties are those of Glue's API, so they are passed on unchanged. */
async function glue(operation: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const response = await fetch(emulator(), {
    method: "POST",
    headers: {
      "content-type": "application/x-amz-json-1.1",
      "x-amz-target": `AWSGlue.${operation}`,
      authorization: `AWS4-HMAC-SHA256 Credential=emulator/20261121/${REGION}/glue/aws4_request, SignedHeaders=host, Signature=none`,
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${operation}: ${await response.text()}`);
}

function definitionOf(template: Template, recorder: AwsRecorder): FunctionDefinition {
  const { id, properties } = template.one("AWS::Lambda::Function");
  const resolved = functionSchema.parse(template.resolve(properties));
  const { Handler, MemorySize, Timeout, Code, Environment } = resolved;
  return {
    name: id,
    directory: template.assetDirectory(Code.S3Key),
    handler: Handler,
    memoryMb: MemorySize,
    timeoutMs: Timeout * 1000,
    environment: {
      ...Environment.Variables,
      ...awsEnvironment(recorder.url),
    },
  };
}

const machineSchema = z.object({
  StateMachineName: z.string(),
  StateMachineType: z.literal("STANDARD"),
  DefinitionString: z.string(),
});

/** With the function behind it, and the rule on executions that did not succeed. */
class DeployedStateMachine {
  readonly engine: StatesEngine;
  /** A clock whose waits take no time. */
  readonly clock = new SkippingClock(Date.now());
  /** Runs the turns and gets the events. */
  function: Pick<LambdaFunction, "invoke" | "deliver">;
  /** The time limit of each turn; undefined for the function's own. */
  turnTimeoutMs: number | undefined;
  /** The errors of turns that failed, in their order. */
  readonly failures: string[] = [];
  /** The responses to the events of the rule. */
  readonly abandoned: InvocationResult[] = [];
  readonly #alias: string;
  readonly #rule: EventRule;
  readonly #deliveries = new Set<Promise<unknown>>();

  /** @param alias the ARN that the template's alias was made with. */
  constructor(template: Template, lambda: LambdaFunction, alias: string, stateMachineArn: string) {
    const resolved = machineSchema.parse(
      template.resolve(template.one("AWS::StepFunctions::StateMachine").properties),
    );
    if (!stateMachineArn.endsWith(`:stateMachine:${resolved.StateMachineName}`)) {
      throw new Error(
        `the function hands runs over to ${stateMachineArn}, which is not ${resolved.StateMachineName}`,
      );
    }
    this.function = lambda;
    this.#alias = alias;
    this.#rule = new EventRule(template.resolve(ruleOnExecutions(template)));
    this.engine = new StatesEngine({
      stateMachineArn,
      definition: JSON.parse(resolved.DefinitionString),
      clock: this.clock,
      random: () => 0.5,
      invoke: (resource, payload) => this.#invoke(resource, payload),
      onChange: (change) => this.#announce(change),
    });
  }

  /** Resolves when no execution is under way and every event was delivered. */
  async settled(): Promise<void> {
    await this.engine.idle();
    await this.delivered();
  }

  /** Resolves when every event so far was delivered. */
  async delivered(): Promise<void> {
    await Promise.all(this.#deliveries);
  }

  async #invoke(resource: string, payload: unknown): Promise<TaskResult> {
    if (resource !== this.#alias) throw new Error(`${resource} is not the function's alias`);
    const limit = this.turnTimeoutMs === undefined ? {} : { timeoutMs: this.turnTimeoutMs };
    const result = await this.function.invoke(payload, limit);
    if (result.ok) return result;
    const { errorType, errorMessage } = result;
    this.failures.push(errorType);
    // As the engine passes on the error of a function.
    return { ok: false, error: errorType, cause: JSON.stringify({ errorMessage, errorType }) };
  }

  #announce(detail: StatusChange): void {
    const event = { source: "aws.states", "detail-type": "Step Functions Execution Status Change", detail };
    if (!this.#rule.matches(event)) return;
    if (this.#rule.target !== this.#alias)
      throw new Error(`${this.#rule.target} is not the function's alias`);
    this.#deliveries.add(
      this.function
        .deliver(this.#rule.inputFor(event), { retryDelaysMs: [1, 1] })
        .then((results) => this.abandoned.push(...results)),
    );
  }
}

/** The other rules send mails. */
function ruleOnExecutions(template: Template): unknown {
  const pattern = z.object({ EventPattern: z.object({ source: z.tuple([z.literal("aws.states")]) }) });
  const rule = template
    .all("AWS::Events::Rule")
    .find(({ properties }) => pattern.safeParse(properties).success);
  if (rule === undefined) throw new Error("the template has no rule on executions");
  return rule.properties;
}
