// The state machine: what it runs, how long, what it repeats, and what it may do; and the rule on how it ended.

import { describe, expect, it } from "vitest";
import { ERROR_CODES, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { parseDefinition } from "../../states/definition.ts";
import { statements, synthesized } from "../synthesized.ts";

const template = synthesized();
const { properties } = template.only("AWS::StepFunctions::StateMachine");
const live = template.only("AWS::Lambda::Alias");
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
