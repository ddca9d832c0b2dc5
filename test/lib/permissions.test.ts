// The permissions: every statement of every role in the stack.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { type Resource, statements, synthesized } from "./synthesized.ts";

const template = synthesized();
const bucket = `<${template.only("AWS::S3::Bucket").name}.Arn>`;
const queue = `<${template.only("AWS::SQS::Queue").name}.Arn>`;

const policyOf = (rolePattern: RegExp): Resource => {
  const found = template
    .all("AWS::IAM::Policy")
    .find(({ properties }) => rolePattern.test(JSON.stringify(properties["Roles"])));
  if (found === undefined) throw new Error(`no policy of ${rolePattern}`);
  return found;
};
/** As the template writes it. */
const STACK_UUID = '{"Fn::Select":[2,{"Fn::Split":["/","<AWS::StackId>"]}]}';
const glue = (resource: string): string =>
  `arn:<AWS::Partition>:glue:<AWS::Region>:<AWS::AccountId>:${resource}`;
const states = (resource: string): string =>
  `arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:${resource}`;
const below = (...prefixes: readonly string[]): readonly string[] =>
  prefixes.map((prefix) => `${bucket}/${prefix}/*`);

describe("the function", () => {
  it("has these permissions and no others", () => {
    const found = statements(policyOf(/FunctionRole/)).map(({ Effect, Action, Resource, Condition }) => ({
      Effect,
      Action,
      Resource,
      ...(Condition === undefined ? {} : { Condition }),
    }));

    const allow = (Action: readonly string[], Resource: readonly string[], more = {}): object => ({
      Effect: "Allow",
      Action,
      Resource,
      ...more,
    });
    const prefixes = ["snapshots", "changes", "publications", "run-log", "runs", "accounts"];
    expect(found).toEqual([
      allow(["s3:GetObject", "s3:PutObject"], [...below(...prefixes), `${bucket}/columns.json`]),
      allow(["s3:AbortMultipartUpload"], below("snapshots", "changes", "runs")),
      allow(["s3:DeleteObject"], [...below("snapshots", "runs"), `${bucket}/accounts/*/login-refused.json`]),
      allow(["s3:ListBucket"], [bucket], {
        Condition: {
          StringLike: { "s3:prefix": [...prefixes.map((prefix) => `${prefix}/*`), "columns.json"] },
        },
      }),
      allow(
        [
          "glue:GetTable",
          "glue:GetPartition",
          "glue:GetPartitions",
          "glue:BatchCreatePartition",
          "glue:UpdatePartition",
          "glue:BatchDeletePartition",
        ],
        [
          glue("catalog"),
          glue("database/brand_events"),
          glue("table/brand_events/events"),
          glue("table/brand_events/event_snapshots"),
          glue("table/brand_events/event_changes"),
          glue("table/brand_events/publications"),
          glue("table/brand_events/sync_runs"),
        ],
      ),
      allow(
        ["events:PutEvents"],
        ["arn:<AWS::Partition>:events:<AWS::Region>:<AWS::AccountId>:event-bus/default"],
        { Condition: { StringEquals: { "events:source": "brand-events-sync" } } },
      ),
      allow(
        ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
        [`arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:Stack/*-${STACK_UUID}*`],
      ),
      allow(["states:StartExecution"], [states("stateMachine:Stack")]),
      allow(["states:DescribeExecution"], [states("execution:Stack:*")]),
      allow(["sqs:SendMessage"], [queue]),
      allow(
        ["logs:CreateLogStream", "logs:PutLogEvents"],
        [`<${template.only("AWS::Logs::LogGroup").name}.Arn>`],
      ),
    ]);
  });
});

describe("every key that the code uses", () => {
  it.each(Object.entries(layout("uk")))(
    "%s is below a prefix that the function may read and write",
    (_, place) => {
      const key = typeof place === "string" ? place : String(Reflect.apply(place, undefined, ["id", 0, 0]));

      const granted = statements(policyOf(/FunctionRole/))[0]?.Resource ?? [];
      expect(granted).toContain(`${bucket}/${key.split("/")[0]}/*`);
    },
  );
});

describe("the other roles", () => {
  const live = `<${template.only("AWS::Lambda::Alias").name}>`;
  const start = [["lambda:InvokeFunction"], [live]];

  it.each([
    [
      "the schedules",
      /SchedulesRole/,
      "start the alias live and report failed starts",
      [start, [["sqs:SendMessage"], [queue]]],
    ],
    ["the state machine", /StateMachineRole/, "call the alias", [start]],
  ])("of %s (%s) may %s, and nothing else", (_, role, __, may) => {
    const found = statements(policyOf(role)).map(({ Action, Resource }) => [Action, Resource]);

    expect(found).toEqual(may);
  });
});

describe("the roles", () => {
  it("are three, each with one inline policy and no managed policy", () => {
    const roles = template.all("AWS::IAM::Role");

    expect(roles).toHaveLength(3);
    expect(template.all("AWS::IAM::Policy")).toHaveLength(3);
    for (const { properties } of roles) {
      expect(Object.keys(properties).toSorted()).toEqual(["AssumeRolePolicyDocument", "Description", "Tags"]);
    }
  });

  it("are assumed by Lambda, by the scheduler for the schedules of this stack, and by its state machine only", () => {
    const trust = z.object({
      Statement: z.tuple([
        z.object({ Principal: z.unknown(), Condition: z.unknown().optional(), Action: z.string() }),
      ]),
    });
    const found = template
      .all("AWS::IAM::Role")
      .map(({ properties }) => trust.parse(properties["AssumeRolePolicyDocument"]).Statement[0]);

    expect(found).toEqual([
      { Action: "sts:AssumeRole", Principal: { Service: "lambda.amazonaws.com" } },
      {
        Action: "sts:AssumeRole",
        Principal: { Service: "scheduler.amazonaws.com" },
        Condition: {
          StringEquals: {
            "aws:SourceAccount": "<AWS::AccountId>",
            "aws:SourceArn": `<${template.only("AWS::Scheduler::ScheduleGroup").name}.Arn>`,
          },
        },
      },
      {
        Action: "sts:AssumeRole",
        Principal: { Service: "states.amazonaws.com" },
        Condition: {
          StringEquals: { "aws:SourceAccount": "<AWS::AccountId>" },
          ArnLike: { "aws:SourceArn": states("stateMachine:Stack") },
        },
      },
    ]);
  });
});

// That no resource of another type is public is shown by compared-properties.test.ts, which lists the types.
it("no policy of a resource allows every principal", () => {
  const open = ["AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy"]
    .flatMap((type) => template.all(type))
    .flatMap((resource) => statements(resource))
    .filter(({ Effect, Principal }) => Effect === "Allow" && JSON.stringify(Principal).includes("*"));

  expect(open).toEqual([]);
});
