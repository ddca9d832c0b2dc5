// The state machine in the Amazon States Language: it calls the function until the run is finished, and waits between.

import { Duration } from "aws-cdk-lib";
import { ERROR_CODES, SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { STAGING_EXPIRY } from "../data/bucket-rules.ts";
import { FUNCTION_TIMEOUT } from "./sync-function.ts";

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
  ...ERROR_CODES.filter((code) => new SyncError(code, "").isRetryable),
];

/** @param functionArn of the alias. */
export function stateMachineDefinition(functionArn: string): object {
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
