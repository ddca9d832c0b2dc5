// The permission that a request to AWS needs: the action, the resources, and the keys for conditions.

import { z } from "zod";
import type { Asked, Carried } from "../aws/aws-proxy.ts";

export const ACCOUNT_ID = "123456789012";
export const REGION = "eu-west-1";

export interface AwsCall {
  /** As policies write it: `s3:GetObject`. */
  readonly action: string;
  /** All of them must be allowed. */
  readonly resources: readonly string[];
  readonly conditions: Readonly<Record<string, string>>;
  /** In requests to S3: the expected owner of the bucket. */
  readonly expectedOwner?: string | undefined;
}

type AwsRequest = Asked & Carried;

/** Throws for an unknown request, so that none is overlooked. */
export function awsCalls(request: AwsRequest): readonly AwsCall[] {
  return request.action === undefined ? s3Calls(request) : [jsonCall(request.action, request.body)];
}

const PREFIX = `${REGION}:${ACCOUNT_ID}`;
const glueSchema = z.object({
  DatabaseName: z.string(),
  TableName: z.string().optional(),
  Name: z.string().optional(),
});
const secretSchema = z.object({ SecretId: z.string() });
const statesSchema = z.object({
  stateMachineArn: z.string().optional(),
  executionArn: z.string().optional(),
});
const eventsSchema = z.object({
  Entries: z.tuple([z.object({ EventBusName: z.string(), Source: z.string() })]),
});

function jsonCall(target: string, body: Buffer): AwsCall {
  const [service = "", operation = ""] = target.split(".");
  const input: unknown = JSON.parse(body.toString());
  switch (service) {
    case "AWSGlue":
      return { action: `glue:${operation}`, resources: glueResources(input), conditions: {} };
    case "secretsmanager":
      return {
        action: `secretsmanager:${operation}`,
        resources: [secretArn(secretSchema.parse(input).SecretId)],
        conditions: {},
      };
    case "AWSEvents": {
      const [{ EventBusName: bus, Source }] = eventsSchema.parse(input).Entries;
      return {
        action: `events:${operation}`,
        resources: [`arn:aws:events:${PREFIX}:event-bus/${bus}`],
        conditions: { "events:source": Source },
      };
    }
    case "AWSStepFunctions":
      return { action: `states:${operation}`, resources: [statesResource(input)], conditions: {} };
    default:
      throw new Error(`no permission is known for ${target}`);
  }
}

/** Service Authorization Reference: an execution is started on its state machine, and described by itself. */
function statesResource(input: unknown): string {
  const { stateMachineArn, executionArn } = statesSchema.parse(input);
  return executionArn ?? stateMachineArn ?? "";
}

/** Secrets Manager appends six characters to a name. */
function secretArn(id: string): string {
  return id.startsWith("arn:") ? id : `arn:aws:secretsmanager:${PREFIX}:secret:${id}-a1B2c3`;
}

/** Glue evaluates every level: the catalog, the database and the table (AWS Glue guide, "Data Catalog ancestry"). */
function glueResources(input: unknown): readonly string[] {
  const { DatabaseName: database, TableName, Name } = glueSchema.parse(input);
  const table = TableName ?? Name;
  const catalog = `arn:aws:glue:${PREFIX}:catalog`;
  const levels = [catalog, `arn:aws:glue:${PREFIX}:database/${database}`];
  return table === undefined ? levels : [...levels, `arn:aws:glue:${PREFIX}:table/${database}/${table}`];
}

function s3Calls({ method, url, headers, body }: AwsRequest): readonly AwsCall[] {
  const { pathname, searchParams } = new URL(url, "http://s3");
  const [bucket = "", ...rest] = pathname.slice(1).split("/").map(decodeURIComponent);
  const key = rest.join("/");
  const expectedOwner = headers["x-amz-expected-bucket-owner"]?.toString();
  if (key === "" && method === "POST" && searchParams.has("delete")) {
    // S3 API Reference, DeleteObjects: without versions each key needs the permission to delete it, and nothing else.
    const keys = [...body.toString().matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, named = ""]) => named);
    const resources = keys.map((named) => `arn:aws:s3:::${bucket}/${named}`);
    return [{ action: "s3:DeleteObject", resources, conditions: {}, expectedOwner }];
  }
  if (key === "") {
    if (method !== "GET" || searchParams.get("list-type") !== "2") throw unknown(method, url);
    return [{ ...listingOf(bucket, searchParams.get("prefix") ?? ""), expectedOwner }];
  }
  const call = (action: string, conditions: AwsCall["conditions"] = {}): AwsCall => ({
    action: `s3:${action}`,
    resources: [`arn:aws:s3:::${bucket}/${key}`],
    conditions,
    expectedOwner,
  });
  switch (method) {
    case "GET":
    case "HEAD":
      return [call("GetObject"), { ...listingOf(bucket, key), expectedOwner }];
    case "PUT":
    case "POST": {
      const write = call("PutObject", writeConditions(headers, searchParams));
      // S3 guide, "conditional writes": If-Match needs permission to read as well.
      return headers["if-match"] === undefined ? [write] : [write, call("GetObject")];
    }
    case "DELETE":
      if (!searchParams.has("uploadId")) throw unknown(method, url);
      return [call("AbortMultipartUpload")];
    default:
      throw unknown(method, url);
  }
}

/** S3 guide, "Enforce conditional writes": starting an upload and sending its parts create no object yet. */
function writeConditions(headers: AwsRequest["headers"], query: URLSearchParams): AwsCall["conditions"] {
  const ifNoneMatch = headers["if-none-match"];
  const ifMatch = headers["if-match"]?.toString();
  return {
    "s3:ObjectCreationOperation": String(!query.has("uploads") && !query.has("partNumber")),
    ...(ifNoneMatch === undefined ? {} : { "s3:if-none-match": ifNoneMatch }),
    ...(ifMatch === undefined ? {} : { "s3:if-match": ifMatch }),
  };
}

/**
 * Needed by a listing, and by a read: S3 returns 404 for a missing key only to callers that may list it, and evaluates
 * this with the key as the prefix (as measured for Ceph, which follows S3: ceph/ceph#68577).
 */
function listingOf(bucket: string, prefix: string): AwsCall {
  return {
    action: "s3:ListBucket",
    resources: [`arn:aws:s3:::${bucket}`],
    conditions: { "s3:prefix": prefix },
  };
}

function unknown(method: string, url: string): Error {
  return new Error(`no permission is known for ${method} ${url}`);
}
