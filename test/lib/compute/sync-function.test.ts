// The function: its size and time limit, its log, and the retries of a start that fails.

import { describe, expect, it } from "vitest";
import { statements, synthesized } from "../synthesized.ts";

const template = synthesized();
const live = template.only("AWS::Lambda::Alias");
const queue = template.only("AWS::SQS::Queue");

describe("the function", () => {
  const { properties } = template.only("AWS::Lambda::Function");

  it("runs on Node.js 24, arm64, with one whole processor and Lambda's maximum time", () => {
    expect(properties).toMatchObject({
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      Handler: "index.handler",
      MemorySize: 1769,
      Timeout: 900,
    });
  });

  it("reserves no concurrency by default, because a new AWS account has none to reserve", () => {
    const reserving = synthesized({
      baseUrl: "https://api.example.com",
      reservedConcurrency: 3,
      accounts: { uk: { schedule: "rate(1 day)" } },
    });

    expect(properties).not.toHaveProperty("ReservedConcurrentExecutions");
    expect(reserving.only("AWS::Lambda::Function").properties["ReservedConcurrentExecutions"]).toBe(3);
  });

  it("logs to a group whose lines expire", () => {
    const logs = template.only("AWS::Logs::LogGroup");

    expect(logs.properties["RetentionInDays"]).toBe(90);
    expect(properties["LoggingConfig"]).toEqual({ LogGroup: `<${logs.name}>` });
  });
});

describe("a start that fails", () => {
  it("is retried twice within an hour and then kept in the queue: on the alias, not on $LATEST", () => {
    expect(template.only("AWS::Lambda::EventInvokeConfig").properties).toMatchObject({
      // The last part of the alias's ARN is its name.
      Qualifier: { "Fn::Select": [7, { "Fn::Split": [":", `<${live.name}>`] }] },
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 3600,
      DestinationConfig: { OnFailure: { Destination: `<${queue.name}.Arn>` } },
    });
    expect(live.properties["Name"]).toBe("live");
  });

  it("stays two weeks in a queue that is encrypted and requires TLS", () => {
    expect(queue.properties).toMatchObject({ MessageRetentionPeriod: 1_209_600, SqsManagedSseEnabled: true });
    expect(statements(template.only("AWS::SQS::QueuePolicy"))).toContainEqual({
      Effect: "Deny",
      Principal: { AWS: "*" },
      Action: ["sqs:*"],
      Resource: [`<${queue.name}.Arn>`],
      Condition: { Bool: { "aws:SecureTransport": "false" } },
    });
  });
});
