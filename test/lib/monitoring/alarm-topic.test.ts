// The topic for alarms: which principals may publish to it, and its encryption.

import { describe, expect, it } from "vitest";
import { statements } from "../policy-statements.ts";
import { synthesized } from "../synthesized.ts";

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

  it("is encrypted with a key that alarms may use, with rotation", () => {
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
