// What runs: the function with its size, its log and the retries of a start that fails; one schedule for each account, in its
// time zone; the state machine, what it repeats and what it may do; and the rule on how it ended.

import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ERROR_CODES, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { parseDefinition } from "../../states/definition.ts";
import { statements, synthesized } from "../synthesized.ts";

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

describe("a schedule", () => {
  const [uk, lab, ...others] = template.all("AWS::Scheduler::Schedule").map(({ properties }) => properties);

  it("exists for each account, in the account's time zone, enabled or disabled", () => {
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

  it("calls the alias with the account and the instant that names the run, for at most an hour", () => {
    expect(uk?.["Target"]).toMatchObject({
      Arn: `<${live.name}>`,
      Input: '{"account":"uk","scheduledAt":"<aws.scheduler.scheduled-time>"}',
      RetryPolicy: { MaximumEventAgeInSeconds: 3600 },
      DeadLetterConfig: { Arn: `<${queue.name}.Arn>` },
    });
  });
});

const { properties } = template.only("AWS::StepFunctions::StateMachine");
const ALIAS = "arn:aws:lambda:eu-west-1:123456789012:function:sync:live";
const { StartAt, States, TimeoutSeconds } = parseDefinition(
  JSON.parse(String(properties["DefinitionString"]).replaceAll(`<${live.name}>`, ALIAS)),
);
const { Continue } = States;
const retriers = Continue?.Type === "Task" ? Continue.Retry : [];

describe("the state machine", () => {
  it("is a standard one with the name of the stack", () => {
    expect(properties).toMatchObject({ StateMachineName: "Stack", StateMachineType: "STANDARD" });
  });

  it("calls the alias with the run, the execution and the turn, until the answer says that it is done", () => {
    expect(StartAt).toBe("Continue");
    expect(States).toMatchObject({
      Continue: {
        Type: "Task",
        Resource: ALIAS,
        Parameters: {
          action: "continue",
          "account.$": "$$.Execution.Input.account",
          "runId.$": "$$.Execution.Input.runId",
          "executionArn.$": "$$.Execution.Id",
          "turn.$": "$.turn",
        },
        Next: "Done?",
      },
      "Done?": {
        Type: "Choice",
        Choices: [{ Variable: "$.done", BooleanEquals: true, Next: "End" }],
        Default: "Wait",
      },
      Wait: { Type: "Wait", SecondsPath: "$.waitSeconds", Next: "Continue" },
      End: { Type: "Succeed" },
    });
  });

  it("repeats a call that failed after minutes, six times, each account at another time", () => {
    expect(retriers).toHaveLength(1);
    expect(retriers[0]).toMatchObject({
      IntervalSeconds: 60,
      BackoffRate: 2,
      MaxDelaySeconds: 900,
      MaxAttempts: 6,
      JitterStrategy: "FULL",
    });
  });

  it("repeats a call for the errors of the engine and of Lambda that pass, and for the function's retryable ones", () => {
    const named = retriers.flatMap(({ ErrorEquals }) => ErrorEquals);
    const ofAws = named.filter((name) => name.includes("."));
    const own = named.filter((name) => !name.includes("."));

    expect(ofAws.toSorted()).toEqual([
      "Lambda.AWSLambdaException",
      "Lambda.ClientExecutionTimeoutException",
      "Lambda.SdkClientException",
      "Lambda.ServiceException",
      "Lambda.TooManyRequestsException",
      "Lambda.Unknown",
      "Runtime.ExitError",
      "Sandbox.Timedout",
      "States.Timeout",
    ]);
    expect(own.toSorted()).toEqual(
      ERROR_CODES.filter((code) => new SyncError(code, "").isRetryable).toSorted(),
    );
    expect(own).toContain("SERVICE_UNAVAILABLE");
    expect(own).not.toContain("LOGIN_REFUSED");
  });

  it("waits for a call longer than the function may work, so two invocations of a run never meet", () => {
    const { Timeout } = template.only("AWS::Lambda::Function").properties;

    expect(Timeout).toBe(900);
    expect(Continue).toMatchObject({ TimeoutSeconds: 960 });
  });

  it("ends an execution when the bucket begins to delete what its run has staged", () => {
    const staging = JSON.stringify(template.only("AWS::S3::Bucket").properties["LifecycleConfiguration"]);

    expect(TimeoutSeconds).toBe(14 * 24 * 60 * 60);
    expect(staging).toContain('{"ExpirationInDays":14,"Id":"staging","Prefix":"runs/","Status":"Enabled"}');
  });

  it("keeps the run log for 400 days, and what is published for ever", () => {
    const { LifecycleConfiguration } = template.only("AWS::S3::Bucket").properties;
    const { Rules } = z
      .object({
        Rules: z.array(
          z.looseObject({ Prefix: z.string().optional(), ExpirationInDays: z.number().optional() }),
        ),
      })
      .parse(LifecycleConfiguration);

    expect(Object.fromEntries(Rules.map((rule) => [rule.Prefix ?? "", rule.ExpirationInDays]))).toEqual({
      "": undefined,
      "runs/": 14,
      "run-log/": 400,
      "athena-results/": 7,
    });
  });

  it("writes no log and no trace, and is encrypted with the engine's key: all on purpose", () => {
    expect(properties).toMatchObject({
      LoggingConfiguration: { Level: "OFF" },
      TracingConfiguration: { Enabled: false },
      EncryptionConfiguration: { Type: "AWS_OWNED_KEY" },
    });
  });
});

describe("the rule that tells the function of executions that did not succeed", () => {
  const [rule] = template.all("AWS::Events::Rule").filter(({ name }) => name.startsWith("EndedExecutions"));
  if (rule === undefined) throw new Error("the stack has no rule on executions");
  const alias = `<${live.name}>`;
  const queue = `<${template.only("AWS::SQS::Queue").name}.Arn>`;

  it("matches the executions of this state machine that failed, timed out or were aborted", () => {
    expect(rule.properties).toMatchObject({
      State: "ENABLED",
      EventPattern: {
        source: ["aws.states"],
        "detail-type": ["Step Functions Execution Status Change"],
        detail: {
          stateMachineArn: ["arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:stateMachine:Stack"],
          status: ["FAILED", "TIMED_OUT", "ABORTED"],
        },
      },
    });
    // Events of AWS arrive on the default bus only.
    expect(rule.properties).not.toHaveProperty("EventBusName");
  });

  it("calls the alias with the execution, for at most an hour, and then leaves the event in the failure queue", () => {
    expect(rule.properties["Targets"]).toEqual([
      {
        Id: "Target0",
        Arn: alias,
        InputTransformer: {
          InputPathsMap: { "detail-executionArn": "$.detail.executionArn" },
          InputTemplate: '{"action":"abandon","executionArn":<detail-executionArn>}',
        },
        RetryPolicy: { MaximumEventAgeInSeconds: 3600 },
        DeadLetterConfig: { Arn: queue },
      },
    ]);
  });

  it("alone may call the alias, and put what failed into the queue", () => {
    const source = `<${rule.name}.Arn>`;

    expect(template.only("AWS::Lambda::Permission").properties).toEqual({
      Action: "lambda:InvokeFunction",
      FunctionName: alias,
      Principal: "events.amazonaws.com",
      SourceArn: source,
    });
    expect(statements(template.only("AWS::SQS::QueuePolicy"))).toContainEqual({
      Effect: "Allow",
      Principal: { Service: "events.amazonaws.com" },
      Action: ["sqs:SendMessage"],
      Resource: [queue],
      Condition: { ArnEquals: { "aws:SourceArn": source } },
    });
  });
});
