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
  test.each<readonly [string, readonly object[], AwsCall, boolean]>([
    ["within the prefix", [read], call("s3:GetObject", ["arn:aws:s3:::b/runs/x"]), true],
    ["outside the prefix", [read], call("s3:GetObject", ["arn:aws:s3:::b/other"]), false],
    ["of another action", [read], call("s3:PutObject", ["arn:aws:s3:::b/runs/x"]), false],
    [
      "of an action in other letters",
      [{ ...read, Action: "S3:getobject" }],
      call("s3:GetObject", ["arn:aws:s3:::b/runs/x"]),
      true,
    ],
    ["without statements", [], call("s3:GetObject", ["arn:aws:s3:::b/runs/x"]), false],
    [
      "that is denied as well",
      [read, { ...read, Effect: "Deny" }],
      call("s3:GetObject", ["arn:aws:s3:::b/runs/x"]),
      false,
    ],
    [
      "with one resource of two",
      [read],
      call("s3:GetObject", ["arn:aws:s3:::b/runs/x", "arn:aws:s3:::b/y"]),
      false,
    ],
    [
      "that a dot of the pattern would match as an expression",
      [{ ...read, Resource: "arn:aws:s3:::b/a.c" }],
      call("s3:GetObject", ["arn:aws:s3:::b/abc"]),
      false,
    ],
    [
      "whose condition holds by a wildcard",
      [list],
      call("s3:ListBucket", ["arn:aws:s3:::b"], { "s3:prefix": "runs/uk/" }),
      true,
    ],
    [
      "whose condition does not hold",
      [list],
      call("s3:ListBucket", ["arn:aws:s3:::b"], { "s3:prefix": "exactly" }),
      false,
    ],
    ["without what the condition looks at", [list], call("s3:ListBucket", ["arn:aws:s3:::b"]), false],
    [
      "that creates an object where one may be, though objects there are written once",
      [write, writeOnce],
      call("s3:PutObject", [SNAPSHOT], { "s3:ObjectCreationOperation": "true" }),
      false,
    ],
    [
      "that creates an object where none is",
      [write, writeOnce],
      call("s3:PutObject", [SNAPSHOT], {
        "s3:ObjectCreationOperation": "true",
        "s3:if-none-match": "*",
      }),
      true,
    ],
    [
      "that replaces one version of an object",
      [write, writeOnce],
      call("s3:PutObject", [SNAPSHOT], {
        "s3:ObjectCreationOperation": "true",
        "s3:if-match": '"etag"',
      }),
      true,
    ],
    [
      "that sends a part of an upload",
      [write, writeOnce],
      call("s3:PutObject", [SNAPSHOT], { "s3:ObjectCreationOperation": "false" }),
      true,
    ],
    [
      "that only a Null condition with the value false allows, without the key",
      [{ ...write, Condition: { Null: { "s3:if-none-match": "false" } } }],
      call("s3:PutObject", [SNAPSHOT]),
      false,
    ],
    [
      "whose condition means the wildcard literally",
      [{ ...list, Condition: { StringEquals: { "s3:prefix": "runs/*" } } }],
      call("s3:ListBucket", ["arn:aws:s3:::b"], { "s3:prefix": "runs/uk/" }),
      false,
    ],
  ])("%s", (_, statements, one, allowed) => {
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
