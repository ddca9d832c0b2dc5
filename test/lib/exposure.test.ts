// Who may reach what from outside: the topic's policy and key, and that nothing is public.

import { describe, expect, it } from "vitest";
import { statements } from "./policy-statements.ts";
import { synthesized } from "./synthesized.ts";

const template = synthesized();
const topic = `<${template.only("AWS::SNS::Topic").name}>`;

describe("the topic", () => {
  it("takes messages from this account's alarms, over TLS, and lets nobody else in", () => {
    expect(statements(template.only("AWS::SNS::TopicPolicy"))).toEqual([
      {
        Effect: "Deny",
        Action: ["sns:Publish"],
        Principal: "*",
        Resource: [topic],
        Condition: { Bool: { "aws:SecureTransport": "false" } },
      },
      {
        Effect: "Allow",
        Action: ["sns:Publish"],
        Principal: { Service: "cloudwatch.amazonaws.com" },
        Resource: [topic],
        Condition: {
          StringEquals: { "aws:SourceAccount": "<AWS::AccountId>" },
          ArnLike: {
            "aws:SourceArn": "arn:<AWS::Partition>:cloudwatch:<AWS::Region>:<AWS::AccountId>:alarm:*",
          },
        },
      },
    ]);
  });

  it("is encrypted with a key that alarms may use and that is renewed", () => {
    const key = template.only("AWS::KMS::Key");

    expect(template.only("AWS::SNS::Topic").properties["KmsMasterKeyId"]).toBe(`<${key.name}.Arn>`);
    expect(key.properties["EnableKeyRotation"]).toBe(true);
    expect(statements(key, "KeyPolicy")).toContainEqual({
      Effect: "Allow",
      Action: ["kms:Decrypt", "kms:GenerateDataKey*"],
      Principal: { Service: "cloudwatch.amazonaws.com" },
      Resource: ["*"],
      Condition: { StringEquals: { "aws:SourceAccount": "<AWS::AccountId>" } },
    });
  });
});

describe("nothing", () => {
  it("is public: no policy allows everybody, no function has an address, nothing else can be reached", () => {
    const resourcePolicies = ["AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy"];
    const open = resourcePolicies
      .flatMap((type) => template.all(type))
      .flatMap((resource) => statements(resource))
      .filter(({ Effect, Principal }) => Effect === "Allow" && JSON.stringify(Principal).includes("*"));

    expect(open).toEqual([]);
    expect([...template.types].toSorted()).toEqual([
      "AWS::Athena::NamedQuery",
      "AWS::Athena::WorkGroup",
      "AWS::CloudWatch::Alarm",
      "AWS::CloudWatch::Dashboard",
      "AWS::Glue::Database",
      "AWS::Glue::Partition",
      "AWS::Glue::Table",
      "AWS::IAM::Policy",
      "AWS::IAM::Role",
      "AWS::KMS::Key",
      "AWS::Lambda::Alias",
      "AWS::Lambda::EventInvokeConfig",
      "AWS::Lambda::Function",
      "AWS::Lambda::Version",
      "AWS::Logs::LogGroup",
      "AWS::S3::Bucket",
      "AWS::S3::BucketPolicy",
      "AWS::SNS::Topic",
      "AWS::SNS::TopicPolicy",
      "AWS::SQS::Queue",
      "AWS::SQS::QueuePolicy",
      "AWS::Scheduler::Schedule",
      "AWS::Scheduler::ScheduleGroup",
      "AWS::SecretsManager::Secret",
    ]);
  });
});
