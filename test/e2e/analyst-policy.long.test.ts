// The policy for analysts, held against the calls of an Athena query: it allows them, and nothing else of the stack.

import { beforeAll, describe, expect, test } from "vitest";
import { ACCOUNT_ID, type AwsCall, REGION } from "./aws-call.ts";
import { isAllowed, type Statement, unused } from "./policy.ts";
import { analystStatements } from "./role-statements.ts";
import { synthTemplate } from "./template.ts";

const BUCKET = "arn:aws:s3:::warehouse";
const HERE = `${REGION}:${ACCOUNT_ID}`;
const WORKGROUP = `arn:aws:athena:${HERE}:workgroup/BrandEventsSync`;
const CATALOG = `arn:aws:glue:${HERE}:catalog`;
const DATABASE = `arn:aws:glue:${HERE}:database/lake`;
const SETTINGS = {
  baseUrl: "https://service.example.com",
  database: "lake",
  accounts: { uk: { schedule: "rate(1 day)" } },
};

let statements: readonly Statement[] = [];
beforeAll(async () => {
  const template = await synthTemplate(SETTINGS);
  template.made(template.one("AWS::S3::Bucket").id, { ref: "warehouse", attributes: { Arn: BUCKET } });
  statements = analystStatements(template);
});

const call = (action: string, ...resources: readonly string[]): AwsCall => ({
  action,
  resources,
  conditions: {},
});
const athena = (operation: string): AwsCall => call(`athena:${operation}`, WORKGROUP);
const browse = (operation: string): AwsCall =>
  call(`athena:${operation}`, `arn:aws:athena:${HERE}:datacatalog/AwsDataCatalog`);
/** Glue evaluates every level: the catalog, the database and the table. */
const glue = (operation: string, table?: string, database = DATABASE): AwsCall => {
  const name = database.split("/")[1];
  const levels = [CATALOG, database];
  return call(
    `glue:${operation}`,
    ...(table === undefined ? levels : [...levels, `arn:aws:glue:${HERE}:table/${name}/${table}`]),
  );
};
const object = (operation: string, key: string): AwsCall => call(`s3:${operation}`, `${BUCKET}/${key}`);
const list = (prefix: string): AwsCall => ({
  action: "s3:ListBucket",
  resources: [BUCKET],
  conditions: { "s3:prefix": prefix },
});
const write = (key: string, isWhole = true): AwsCall => ({
  ...object("PutObject", key),
  conditions: { "s3:ObjectCreationOperation": String(isWhole) },
});

const RESULT = "athena-results/5f0c.csv";
const DATA = [
  "snapshots/uk/2026-11-21T06-00-00.000Z/part-00000.ndjson.gz",
  "changes/uk/0000000001/2026-11-21T06-00-00.000Z/part-00000.ndjson.gz",
  "publications/uk/0000000001.ndjson",
  "run-log/uk/2026-11-21T06-00-00.000Z-1.ndjson",
];
const folderOf = (key: string): string => key.slice(0, key.lastIndexOf("/") + 1);

const QUERY: readonly AwsCall[] = [
  ...["GetWorkGroup", "StartQueryExecution", "GetQueryExecution", "GetQueryResults"].map(athena),
  glue("GetDatabase"),
  glue("GetDatabase", undefined, `arn:aws:glue:${HERE}:database/default`),
  glue("GetTable", "events"),
  glue("GetTable", "events_typed"),
  glue("GetTable", "event_history"),
  glue("GetTables", "*"),
  glue("GetPartition", "events"),
  glue("GetPartitions", "events"),
  glue("BatchGetPartition", "event_snapshots"),
  glue("GetTable", "a_view_of_theirs"),
  call("s3:GetBucketLocation", BUCKET),
  ...DATA.map((key) => list(folderOf(key))),
  ...DATA.map((key) => object("GetObject", key)),
  list("athena-results/"),
  write(RESULT),
  write(RESULT, false), // a part of an upload
  call("s3:ListBucketMultipartUploads", BUCKET),
  object("ListMultipartUploadParts", RESULT),
  object("AbortMultipartUpload", RESULT),
  object("GetObject", RESULT),
];

/** In the console, and by drivers. */
const AROUND_IT: readonly AwsCall[] = [
  ...["StopQueryExecution", "BatchGetQueryExecution", "ListQueryExecutions"].map(athena),
  ...["GetQueryResultsStream", "GetQueryRuntimeStatistics"].map(athena),
  ...["GetNamedQuery", "BatchGetNamedQuery", "ListNamedQueries"].map(athena),
  ...["GetDataCatalog", "ListDatabases", "GetDatabase"].map(browse),
  ...["ListTableMetadata", "GetTableMetadata"].map(browse),
  glue("GetDatabases"),
  ...["ListWorkGroups", "ListDataCatalogs", "ListEngineVersions"].map((each) => call(`athena:${each}`, "*")),
];

const named = (calls: readonly AwsCall[]) =>
  calls.map(
    (one) =>
      [one.action, `${one.resources.at(-1)} ${one.conditions["s3:prefix"] ?? ""}`.trim(), one] as const,
  );

describe("the policy for analysts", () => {
  test.each(named([...QUERY, ...AROUND_IT]))("allows %s on %s", (_, __, one) => {
    expect(isAllowed(statements, one)).toBe(true);
  });

  test.each(
    named([
      object("GetObject", "accounts/uk/lease.json"),
      object("GetObject", "runs/uk/2026-11-21T06-00-00.000Z/plan.ndjson.gz"),
      list("accounts/"),
      list("runs/uk/"),
      list(""),
      call("s3:ListBucket", BUCKET),
      ...DATA.map((key) => write(key)),
      ...DATA.map((key) => object("DeleteObject", key)),
      object("GetObjectVersion", DATA[0] ?? ""),
      object("DeleteObject", RESULT),
      call("s3:PutBucketPolicy", BUCKET),
      call("s3:GetObject", "arn:aws:s3:::another/snapshots/uk/x"),
      glue("CreateTable", "a_table"),
      glue("UpdateTable", "events"),
      glue("DeleteTable", "events"),
      glue("UpdatePartition", "events"),
      glue("BatchCreatePartition", "events"),
      glue("DeleteDatabase"),
      glue("GetTable", "secrets", `arn:aws:glue:${HERE}:database/hr`),
      glue("GetTables", "*", `arn:aws:glue:${HERE}:database/default`),
      call("athena:StartQueryExecution", `arn:aws:athena:${HERE}:workgroup/primary`),
      athena("UpdateWorkGroup"),
      athena("DeleteWorkGroup"),
      athena("DeleteNamedQuery"),
      call("secretsmanager:GetSecretValue", `arn:aws:secretsmanager:${HERE}:secret:uk`),
      call("lambda:InvokeFunction", `arn:aws:lambda:${HERE}:function:sync:live`),
    ]),
  )("does not allow %s on %s", (_, __, one) => {
    expect(isAllowed(statements, one)).toBe(false);
  });

  test("has no permission that no call needs", () => {
    expect(unused(statements, [...QUERY, ...AROUND_IT])).toEqual([]);
  });
});
