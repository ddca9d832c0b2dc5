// What starts the function: one schedule per account, in the account's own time zone, whose instant names the run; and the
// state machine that continues what one invocation could not finish, with what tells the function of executions that have
// given up.

import { Annotations, Duration, Stack } from "aws-cdk-lib";
import { EventField, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSchedule, CfnScheduleGroup, type IScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { CfnStateMachine } from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";
import { RETRYABLE_CODES } from "../../lambdas/job/errors/sync-error.ts";
import { systemClock } from "../../lambdas/job/runtime/clock.ts";
import { acknowledge } from "../acknowledge.ts";
import { STAGING_EXPIRY } from "../data/storage.ts";
import type { Settings } from "../settings.ts";
import { leftOutStart } from "./daylight-saving.ts";
import { FUNCTION_TIMEOUT } from "./sync-function.ts";

interface StateMachineProps {
  /** The deployment's, so two in one AWS account do not meet. */
  readonly name: string;
  readonly arn: string;
  /** Is called for every turn. */
  readonly target: IFunction;
  readonly failureQueue: IQueue;
}

export function addStateMachine(
  parent: Construct,
  { name, arn, target, failureQueue }: StateMachineProps,
): void {
  const scope = new Construct(parent, "StateMachine");
  const { account } = Stack.of(scope);
  /** May call the function's alias, for this state machine only. */
  const role = new Role(scope, "Role", {
    description: "Allows the state machine to call the function",
    assumedBy: new ServicePrincipal("states.amazonaws.com", {
      conditions: { StringEquals: { "aws:SourceAccount": account }, ArnLike: { "aws:SourceArn": arn } },
    }),
  });
  role.addToPolicy(
    new PolicyStatement({
      sid: "Continue",
      actions: ["lambda:InvokeFunction"],
      resources: [target.functionArn],
    }),
  );
  const machine = new CfnStateMachine(scope, "Machine", {
    stateMachineName: name,
    // An Express one ends after five minutes.
    stateMachineType: "STANDARD",
    // As text: as an object CloudFormation would be free to turn its numbers into texts.
    definitionString: Stack.of(scope).toJsonString(stateMachineDefinition(target.functionArn)),
    roleArn: role.roleArn,
    // The engine keeps the history of each execution with its data for 90 days, and the function logs each turn. A
    // log group would be a second copy, and to write it the role would need permissions on all logs of the AWS
    // account (logs:CreateLogDelivery, logs:PutResourcePolicy and six more, which AWS grants on * only).
    loggingConfiguration: { level: "OFF" },
    // There is one function and nothing behind it to trace.
    tracingConfiguration: { enabled: false },
    // Encrypted with a key of the engine's. The data are the names of an account, a run and an execution, and the
    // messages of errors, none of which is secret: a key of our own would cost more than the executions.
    encryptionConfiguration: { type: "AWS_OWNED_KEY" },
  });
  // With its policy: an execution that starts before the permission is there fails for good.
  machine.node.addDependency(role);
  const notTraced =
    "There is one function and nothing behind it to trace. The history of an execution shows every attempt with its time.";
  acknowledge(
    machine,
    {
      id: "AwsSolutions-SF1",
      reason:
        "The engine keeps the history of each execution with its data for 90 days, and the function logs each turn. To write logs the role would need permissions on all logs of the AWS account.",
    },
    { id: "AwsSolutions-SF2", reason: notTraced },
    { id: "Serverless-StepFunctionStateMachineXray", reason: notTraced },
  );
  new Rule(new Construct(parent, "EndedExecutions"), "Rule", {
    description: "Tells the function of executions that ended without finishing their run",
    eventPattern: {
      source: ["aws.states"],
      detailType: ["Step Functions Execution Status Change"],
      detail: { stateMachineArn: [arn], status: ["FAILED", "TIMED_OUT", "ABORTED"] },
    },
    targets: [
      new LambdaFunction(target, {
        event: RuleTargetInput.fromObject({
          action: "abandon",
          executionArn: EventField.fromPath("$.detail.executionArn"),
        }),
        // As with the schedules: what is lost is in the failure queue, and the next start of the account asks the
        // engine itself.
        maxEventAge: Duration.hours(1),
        deadLetterQueue: failureQueue,
      }),
    ],
  });
}

/** `States.Timeout` must mean that the function is no longer at work: two invocations of one run would meet. */
const TASK_TIMEOUT = FUNCTION_TIMEOUT.plus(Duration.minutes(1));

/**
 * Errors that are over after a while, or that a second attempt may not meet. A wrong permission or a wrong definition
 * (`States.Permissions`, `States.Runtime`) and a function out of memory stay as they are, and are not among them.
 */
const RETRIED = [
  // The engine got no answer in time.
  "States.Timeout",
  // Lambda has no room, or is disturbed itself.
  "Lambda.TooManyRequestsException",
  "Lambda.ServiceException",
  "Lambda.AWSLambdaException",
  "Lambda.SdkClientException",
  "Lambda.ClientExecutionTimeoutException",
  // The invocation was cut off: the next one continues from what is staged.
  "Lambda.Unknown",
  "Sandbox.Timedout",
  "Runtime.ExitError",
  // The function's own: the name of its error is the code.
  ...RETRYABLE_CODES,
];

/** @param functionArn of the alias. */
function stateMachineDefinition(functionArn: string): object {
  return {
    Comment: "Continues a run that one invocation could not finish",
    StartAt: "Continue",
    // After that time the bucket deletes the first files that the run has staged, so that it cannot be finished.
    TimeoutSeconds: STAGING_EXPIRY.toSeconds(),
    States: {
      Continue: {
        Type: "Task",
        // The ARN itself, not the integration `lambda:invoke`: the state's output is the function's answer.
        Resource: functionArn,
        Parameters: {
          action: "continue",
          // From the input of the execution, so that each answer may replace the one before.
          "account.$": "$$.Execution.Input.account",
          "runId.$": "$$.Execution.Input.runId",
          "executionArn.$": "$$.Execution.Id",
          "turn.$": "$.turn",
        },
        TimeoutSeconds: TASK_TIMEOUT.toSeconds(),
        // No Catch: an execution that cannot go on fails, so that it is seen and can be redriven.
        Retry: [
          {
            ErrorEquals: RETRIED,
            IntervalSeconds: 60,
            BackoffRate: 2,
            MaxDelaySeconds: 900,
            MaxAttempts: 6,
            // A disturbed service gets the attempts of all accounts at different times.
            JitterStrategy: "FULL",
          },
        ],
        Next: "Done?",
      },
      "Done?": {
        Type: "Choice",
        Choices: [{ Variable: "$.done", BooleanEquals: true, Next: "End" }],
        Default: "Wait",
      },
      Wait: { Type: "Wait", SecondsPath: "$.waitSeconds", Next: "Continue" },
      End: { Type: "Succeed" },
    },
  };
}

interface SchedulesProps {
  /** The name of the deployment. */
  readonly name: string;
  /** The group of the schedules, if the app brings one. */
  readonly group: IScheduleGroup | undefined;
  readonly target: IFunction;
  readonly failureQueue: IQueue;
  readonly accounts: Settings["accounts"];
}

export function addSchedules(
  parent: Construct,
  { name, group, target, failureQueue, accounts }: SchedulesProps,
): void {
  const scope = new Construct(parent, "Schedules");
  const { scheduleGroupName, scheduleGroupArn } = group ?? newGroup(scope, name);
  /** May start the function's alias and report failed starts; for the schedules of this group only. */
  const role = new Role(scope, "Role", {
    description: "Allows the schedules to start the function",
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: {
        StringEquals: { "aws:SourceAccount": Stack.of(scope).account, "aws:SourceArn": scheduleGroupArn },
      },
    }),
  });
  role.addToPolicy(
    new PolicyStatement({
      sid: "Start",
      actions: ["lambda:InvokeFunction"],
      resources: [target.functionArn],
    }),
  );
  role.addToPolicy(
    new PolicyStatement({
      sid: "ReportFailures",
      actions: ["sqs:SendMessage"],
      resources: [failureQueue.queueArn],
    }),
  );
  for (const [account, { schedule, timeZone, enabled }] of Object.entries(accounts)) {
    const leftOut = enabled ? leftOutStart({ schedule, timeZone }, new Date(systemClock.now())) : undefined;
    if (leftOut !== undefined) {
      Annotations.of(scope).addWarningV2(
        `brand-events-sync:left-out-start-${account}`,
        `eventSync.accounts.${account}.schedule: at ${leftOut} the clocks of ${timeZone} go forward and leave out this start, so a day has no run. Choose another hour, or the timeZone UTC.`,
      );
    }
    new CfnSchedule(scope, account, {
      description: `Starts the runs of the account ${account}`,
      groupName: scheduleGroupName,
      scheduleExpression: schedule,
      scheduleExpressionTimezone: timeZone,
      state: enabled ? "ENABLED" : "DISABLED",
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: target.functionArn,
        roleArn: role.roleArn,
        input: JSON.stringify({ account, scheduledAt: "<aws.scheduler.scheduled-time>" }),
        retryPolicy: { maximumEventAgeInSeconds: Duration.hours(1).toSeconds() },
        deadLetterConfig: { arn: failureQueue.queueArn },
      },
    });
  }
}

function newGroup(
  scope: Construct,
  name: string,
): Pick<IScheduleGroup, "scheduleGroupName" | "scheduleGroupArn"> {
  const group = new CfnScheduleGroup(scope, "Group", { name });
  return { scheduleGroupName: group.ref, scheduleGroupArn: group.attrArn };
}
