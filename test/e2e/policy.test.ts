// Tests of the evaluator: it refuses what IAM refuses.

import { describe, expect, test } from "vitest";
import type { AwsCall } from "./aws-call.ts";
import { isAllowed, parseStatements, unused } from "./policy.ts";

const call = (action: string, resources: string[], conditions: Record<string, string> = {}): AwsCall => ({
  action,
  resources,
  conditions,
});
const read = { Effect: "Allow", Action: "s3:GetObject", Resource: ["arn:aws:s3:::b/runs/*"] };
const list = {
  Sid: "List",
  Effect: "Allow",
  Action: ["s3:ListBucket"],
  Resource: "arn:aws:s3:::b",
  Condition: { StringLike: { "s3:prefix": ["runs/*", "exact"] } },
};

const SNAPSHOT = "arn:aws:s3:::b/snapshots/uk/x";
const write = { Effect: "Allow", Action: "s3:PutObject", Resource: "arn:aws:s3:::b/*" };
const writeOnce = {
  Effect: "Deny",
  Principal: { AWS: "*" },
  Action: "s3:PutObject",
  Resource: "arn:aws:s3:::b/snapshots/*",
  Condition: {
    Null: { "s3:if-none-match": "true", "s3:if-match": "true" },
    Bool: { "s3:ObjectCreationOperation": "true" },
  },
};

describe("a call", () => {
  test.each([
    {
      what: "within the prefix",
      statements: [read],
      one: call("s3:GetObject", ["arn:aws:s3:::b/runs/x"]),
      allowed: true,
    },
    {
      what: "outside the prefix",
      statements: [read],
      one: call("s3:GetObject", ["arn:aws:s3:::b/other"]),
      allowed: false,
    },
    {
      what: "of another action",
      statements: [read],
      one: call("s3:PutObject", ["arn:aws:s3:::b/runs/x"]),
      allowed: false,
    },
    {
      what: "of an action in other letters",
      statements: [{ ...read, Action: "S3:getobject" }],
      one: call("s3:GetObject", ["arn:aws:s3:::b/runs/x"]),
      allowed: true,
    },
    {
      what: "without statements",
      statements: [],
      one: call("s3:GetObject", ["arn:aws:s3:::b/runs/x"]),
      allowed: false,
    },
    {
      what: "that is denied as well",
      statements: [read, { ...read, Effect: "Deny" }],
      one: call("s3:GetObject", ["arn:aws:s3:::b/runs/x"]),
      allowed: false,
    },
    {
      what: "with one resource of two",
      statements: [read],
      one: call("s3:GetObject", ["arn:aws:s3:::b/runs/x", "arn:aws:s3:::b/y"]),
      allowed: false,
    },
    {
      what: "that a dot of the pattern would match as an expression",
      statements: [{ ...read, Resource: "arn:aws:s3:::b/a.c" }],
      one: call("s3:GetObject", ["arn:aws:s3:::b/abc"]),
      allowed: false,
    },
    {
      what: "whose condition holds by a wildcard",
      statements: [list],
      one: call("s3:ListBucket", ["arn:aws:s3:::b"], { "s3:prefix": "runs/uk/" }),
      allowed: true,
    },
    {
      what: "whose condition does not hold",
      statements: [list],
      one: call("s3:ListBucket", ["arn:aws:s3:::b"], { "s3:prefix": "exactly" }),
      allowed: false,
    },
    {
      what: "without what the condition looks at",
      statements: [list],
      one: call("s3:ListBucket", ["arn:aws:s3:::b"]),
      allowed: false,
    },
    {
      what: "that creates an object where one may be, though objects there are written once",
      statements: [write, writeOnce],
      one: call("s3:PutObject", [SNAPSHOT], { "s3:ObjectCreationOperation": "true" }),
      allowed: false,
    },
    {
      what: "that creates an object where none is",
      statements: [write, writeOnce],
      one: call("s3:PutObject", [SNAPSHOT], {
        "s3:ObjectCreationOperation": "true",
        "s3:if-none-match": "*",
      }),
      allowed: true,
    },
    {
      what: "that replaces one version of an object",
      statements: [write, writeOnce],
      one: call("s3:PutObject", [SNAPSHOT], {
        "s3:ObjectCreationOperation": "true",
        "s3:if-match": '"etag"',
      }),
      allowed: true,
    },
    {
      what: "that sends a part of an upload",
      statements: [write, writeOnce],
      one: call("s3:PutObject", [SNAPSHOT], { "s3:ObjectCreationOperation": "false" }),
      allowed: true,
    },
    {
      what: "that only a Null condition with the value false allows, without the key",
      statements: [{ ...write, Condition: { Null: { "s3:if-none-match": "false" } } }],
      one: call("s3:PutObject", [SNAPSHOT]),
      allowed: false,
    },
    {
      what: "whose condition means the wildcard literally",
      statements: [{ ...list, Condition: { StringEquals: { "s3:prefix": "runs/*" } } }],
      one: call("s3:ListBucket", ["arn:aws:s3:::b"], { "s3:prefix": "runs/uk/" }),
      allowed: false,
    },
  ])("$what: $allowed", ({ statements, one, allowed }) => {
    expect(isAllowed(parseStatements(statements), one)).toBe(allowed);
  });
});

test("a statement that no call needs is named, by action, resource and condition", () => {
  const statements = parseStatements([
    { ...list, Action: ["s3:ListBucket", "s3:GetBucketAcl"] },
    { ...read, Resource: ["arn:aws:s3:::b/runs/*", "arn:aws:s3:::b/other/*"] },
  ]);
  const calls = [
    call("s3:ListBucket", ["arn:aws:s3:::b"], { "s3:prefix": "runs/" }),
    call("s3:GetObject", ["arn:aws:s3:::b/runs/x"]),
  ];

  expect(unused(statements, calls)).toEqual([
    "List: action s3:GetBucketAcl",
    "List: condition exact",
    "(no Sid): resource arn:aws:s3:::b/other/*",
  ]);
});

test("a policy with an unknown element is refused by the evaluator", () => {
  expect(() => parseStatements([{ ...read, NotAction: "s3:PutObject" }])).toThrow();
  expect(() => parseStatements([{ ...list, Condition: { IpAddress: { "aws:SourceIp": "::1" } } }])).toThrow();
});
