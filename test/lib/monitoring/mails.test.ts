// The topic for alarms and mails: which principals may publish to it, its encryption, and the rules that send mails.

import { describe, expect, it } from "vitest";
import { statements, synthesized } from "../synthesized.ts";

const template = synthesized();
const topic = `<${template.only("AWS::SNS::Topic").name}>`;

describe("the topic", () => {
  it("accepts messages from the alarms of this AWS account and from EventBridge only, and only over TLS", () => {
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
      {
        Effect: "Allow",
        Action: ["sns:Publish"],
        Principal: { Service: "events.amazonaws.com" },
        Resource: [topic],
      },
    ]);
  });

  it("is encrypted with a key, with rotation, that alarms and mails may use: mails without a condition, with which each would be dropped", () => {
    const key = template.only("AWS::KMS::Key");
    const use = { Effect: "Allow", Action: ["kms:Decrypt", "kms:GenerateDataKey*"], Resource: ["*"] };

    expect(template.only("AWS::SNS::Topic").properties["KmsMasterKeyId"]).toBe(`<${key.name}.Arn>`);
    expect(key.properties["EnableKeyRotation"]).toBe(true);
    expect(statements(key, "KeyPolicy").slice(1)).toEqual([
      {
        ...use,
        Principal: { Service: "cloudwatch.amazonaws.com" },
        Condition: { StringEquals: { "aws:SourceAccount": "<AWS::AccountId>" } },
      },
      { ...use, Principal: { Service: "events.amazonaws.com" } },
    ]);
  });
});

it("the rules of mails send to the topic, and leave in the failure queue what it did not take within an hour", () => {
  const rules = template.all("AWS::Events::Rule").filter(({ name }) => name.startsWith("Mails"));

  expect(rules).toHaveLength(2);
  for (const { properties } of rules) {
    expect(properties["Targets"]).toEqual([
      expect.objectContaining({
        Arn: topic,
        DeadLetterConfig: { Arn: `<${template.only("AWS::SQS::Queue").name}.Arn>` },
        RetryPolicy: { MaximumEventAgeInSeconds: 3600 },
      }),
    ]);
    // Events of the function arrive on the default bus only.
    expect(properties).not.toHaveProperty("EventBusName");
  }
});
