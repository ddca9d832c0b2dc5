// The rule that tells the function of executions that did not succeed.

import { expect, it } from "vitest";
import { statements } from "../policy-statements.ts";
import { synthesized } from "../synthesized.ts";

const template = synthesized();
const [rule] = template.all("AWS::Events::Rule").filter(({ name }) => name.startsWith("EndedExecutions"));
if (rule === undefined) throw new Error("the stack has no rule on executions");
const live = `<${template.only("AWS::Lambda::Alias").name}>`;
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
      Arn: live,
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
    FunctionName: live,
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
