// The emulator of AWS for test files: clients that reach only it, new buckets and databases.

import { randomUUID } from "node:crypto";
import {
  CreateDatabaseCommand,
  CreateTableCommand,
  GlueClient,
  type StorageDescriptor,
} from "@aws-sdk/client-glue";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SFNClient } from "@aws-sdk/client-sfn";
import { describe, inject } from "vitest";
import { glueTable } from "../../lambdas/job/catalog/glue/glue-tables.ts";
import { awsClient } from "../../lambdas/job/network/aws-client.ts";
import { readProxies } from "../../lambdas/job/network/proxies.ts";
import { TABLES, type TableName } from "../../lambdas/job/storage/layout.ts";

const REGION = "eu-west-1";
const KEY = "emulator";
let shared: AwsClients | undefined;

/** Undefined where the emulator is not installed. */
const emulatorUrl: string | undefined = await ask();

export const isEmulated: boolean = emulatorUrl !== undefined;

/** `describe` for tests that need the emulator: they are skipped where it is not installed. */
export const onEmulator = describe.skipIf(!isEmulated);

export interface AwsConfig {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly requestHandler: ReturnType<typeof awsClient>["requestHandler"];
  readonly maxAttempts: number;
}

/** For a client's constructor: everything that the SDK would look for, so that no request goes to AWS. */
export function awsConfig(endpoint: string = emulator(), maxAttempts = 3): AwsConfig {
  return {
    ...awsClient(readProxies({})),
    maxAttempts,
    endpoint,
    region: REGION,
    credentials: { accessKeyId: KEY, secretAccessKey: KEY },
  };
}

/** The same for a process of its own, as environment variables. */
export function awsEnvironment(endpoint: string = emulator()): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: KEY,
    AWS_SECRET_ACCESS_KEY: KEY,
    AWS_EC2_METADATA_DISABLED: "true",
  };
}

export interface AwsClients {
  readonly s3: S3Client;
  readonly glue: GlueClient;
  readonly secrets: SecretsManagerClient;
  readonly stepFunctions: SFNClient;
}

/** New clients each time: they keep connections, and some tests change them. */
export function newAwsClients(endpoint: string = emulator(), maxAttempts = 3): AwsClients {
  const config = awsConfig(endpoint, maxAttempts);
  return {
    s3: new S3Client(config),
    glue: new GlueClient(config),
    secrets: new SecretsManagerClient(config),
    stepFunctions: new SFNClient(config),
  };
}

/** Straight to the emulator, shared by all tests of a file. */
export function awsClients(): AwsClients {
  shared ??= newAwsClients();
  return shared;
}

/** The emulator's address. Throws where it is not installed. */
export function emulator(): string {
  if (emulatorUrl === undefined) throw new Error("The emulator of AWS is not installed.");
  return emulatorUrl;
}

/** A new bucket. */
export async function freshBucket(s3: S3Client): Promise<string> {
  const bucket = `test-${randomUUID()}`;
  await s3.send(
    new CreateBucketCommand({ Bucket: bucket, CreateBucketConfiguration: { LocationConstraint: REGION } }),
  );
  return bucket;
}

/** A database with the five tables over the warehouse at `location`, as the stack makes them. */
export async function freshDatabase(
  glue: GlueClient,
  location: string,
  lifted: readonly string[] = [],
): Promise<string> {
  const database = `test_${randomUUID().replaceAll("-", "_")}`;
  await glue.send(new CreateDatabaseCommand({ DatabaseInput: { Name: database } }));
  for (const name of Object.keys(TABLES) as TableName[])
    await createTable(glue, database, name, location, lifted);
  return database;
}

async function createTable(
  glue: GlueClient,
  database: string,
  table: TableName,
  location: string,
  lifted: readonly string[],
): Promise<void> {
  const { tableType, parameters, partitionKeys } = glueTable(table, location, []);
  const TableInput = {
    Name: table,
    TableType: tableType,
    Parameters: parameters,
    PartitionKeys: partitionKeys.map(({ name, type }) => ({ Name: name, Type: type })),
    StorageDescriptor: sdkStorage(table, location, lifted),
  };
  await glue.send(new CreateTableCommand({ DatabaseName: database, TableInput }));
}

/** How the files of the table are stored, as the API takes it. */
export function sdkStorage(
  table: TableName,
  location: string,
  lifted: readonly string[] = [],
): StorageDescriptor {
  const { storageDescriptor } = glueTable(
    table,
    location,
    lifted.map((name) => ({ name })),
  );
  return {
    Columns: storageDescriptor.columns.map(({ name, type }) => ({ Name: name, Type: type })),
    Location: storageDescriptor.location,
    InputFormat: storageDescriptor.inputFormat,
    OutputFormat: storageDescriptor.outputFormat,
    SerdeInfo: {
      SerializationLibrary: storageDescriptor.serdeInfo.serializationLibrary,
      Parameters: storageDescriptor.serdeInfo.parameters,
    },
  };
}

async function ask(): Promise<string | undefined> {
  const answer = await fetch(inject("emulatorDesk"));
  const text = await answer.text();
  if (answer.ok) return text === "" ? undefined : text;
  throw new Error(`The emulator of AWS does not start. ${text}`);
}
