// The stack as far as the function needs it: its resources made on the emulator as the template says, and the bundle
// behind a Lambda Runtime API, with all its calls to AWS recorded.

import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { CreateBucketCommand, PutBucketVersioningCommand } from "@aws-sdk/client-s3";
import { CreateSecretCommand, PutSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { z } from "zod";
import { FUNCTION_FILE_NAME, readEnvironment } from "../../lambdas/sync/environment.ts";
import { type AwsClients, awsClients, awsEnvironment, emulator } from "../aws/emulator.ts";
import { statesResponse } from "../states/states-response.ts";
import { ACCOUNT_ID, REGION } from "./aws-call.ts";
import { AwsRecorder } from "./aws-recorder.ts";
import { DeployedStateMachine } from "./deployed-state-machine.ts";
import type { FunctionDefinition } from "./execution-environment.ts";
import { LambdaFunction } from "./lambda-function.ts";
import type { Statement } from "./policy.ts";
import { functionStatements, makeNames } from "./role-statements.ts";
import { synth } from "./synth.ts";
import { Template } from "./template.ts";

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
  const {
    bucket,
    database,
    accounts,
    stateMachineArn = "",
  } = readEnvironment(
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
