// How runs are started, and what becomes of a start that fails.

import { describe, expect, it } from "vitest";
import { synthesized } from "./synthesized.ts";

const template = synthesized({
  baseUrl: "https://api.example.com",
  accounts: {
    uk: { schedule: "cron(0 6 * * ? *)", timeZone: "Europe/London" },
    lab: { schedule: "rate(12 hours)", enabled: false },
  },
});
const live = template.only("AWS::Lambda::Alias");
const queue = template.only("AWS::SQS::Queue");
const group = template.only("AWS::Scheduler::ScheduleGroup");

describe("a schedule", () => {
  const [uk, lab, ...others] = template.all("AWS::Scheduler::Schedule").map(({ properties }) => properties);

  it("is there for each account, in its own time zone, on or off", () => {
    expect(others).toEqual([]);
    expect(uk).toMatchObject({
      GroupName: `<${group.name}>`,
      ScheduleExpression: "cron(0 6 * * ? *)",
      ScheduleExpressionTimezone: "Europe/London",
      State: "ENABLED",
      FlexibleTimeWindow: { Mode: "OFF" },
    });
    expect(lab).toMatchObject({
      ScheduleExpression: "rate(12 hours)",
      ScheduleExpressionTimezone: "UTC",
      State: "DISABLED",
    });
  });

  it("calls the alias with the account and the instant that names the run, for an hour at the most", () => {
    expect(uk?.["Target"]).toMatchObject({
      Arn: `<${live.name}>`,
      Input: '{"account":"uk","scheduledAt":"<aws.scheduler.scheduled-time>"}',
      RetryPolicy: { MaximumEventAgeInSeconds: 3600 },
      DeadLetterConfig: { Arn: `<${queue.name}.Arn>` },
    });
  });
});

describe("a start that fails", () => {
  it("is tried twice more within an hour and then kept in the queue: on the alias, not on $LATEST", () => {
    expect(template.only("AWS::Lambda::EventInvokeConfig").properties).toMatchObject({
      // The last part of the alias's ARN, which is its name.
      Qualifier: { "Fn::Select": [7, { "Fn::Split": [":", `<${live.name}>`] }] },
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 3600,
      DestinationConfig: { OnFailure: { Destination: `<${queue.name}.Arn>` } },
    });
    expect(live.properties["Name"]).toBe("live");
  });

  it("stays two weeks in a queue that is encrypted and refuses whoever does not use TLS", () => {
    expect(queue.properties).toEqual({ MessageRetentionPeriod: 1_209_600, SqsManagedSseEnabled: true });
    expect(template.only("AWS::SQS::QueuePolicy").properties["PolicyDocument"]).toMatchObject({
      Statement: [
        {
          Effect: "Deny",
          Principal: { AWS: "*" },
          Action: "sqs:*",
          Condition: { Bool: { "aws:SecureTransport": "false" } },
        },
      ],
    });
  });
});

describe("the function", () => {
  const { properties } = template.only("AWS::Lambda::Function");

  it("runs on Node.js 24, arm64, with a whole processor and as long as Lambda allows", () => {
    expect(properties).toMatchObject({
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      Handler: "index.handler",
      MemorySize: 1769,
      Timeout: 900,
    });
  });

  it("reserves no concurrency, which a new AWS account does not have, unless it is told to", () => {
    const reserving = synthesized({
      baseUrl: "https://api.example.com",
      reservedConcurrency: 3,
      accounts: { uk: { schedule: "rate(1 day)" } },
    });

    expect(properties).not.toHaveProperty("ReservedConcurrentExecutions");
    expect(reserving.only("AWS::Lambda::Function").properties["ReservedConcurrentExecutions"]).toBe(3);
  });

  it("logs where the lines expire", () => {
    const logs = template.only("AWS::Logs::LogGroup");

    expect(logs.properties["RetentionInDays"]).toBe(90);
    expect(properties["LoggingConfig"]).toEqual({ LogGroup: `<${logs.name}>` });
  });

  it("is told no more than Lambda takes: too many accounts are refused with what to do", () => {
    const names = Array.from({ length: 40 }, (_, index) => `account-${index}`);
    const accounts = Object.fromEntries(names.map((name) => [name, { schedule: "rate(1 day)" }]));

    expect(() => synthesized({ baseUrl: "https://api.example.com", accounts })).toThrow(
      /^eventSync\.accounts: expected at most 4096 bytes of settings for the function, and got about \d+\. .*second stack\.$/,
    );
  });
});
