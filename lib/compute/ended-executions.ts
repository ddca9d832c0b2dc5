// Tells the function of every execution that ended without finishing its run, so that the account becomes free.

import { Duration } from "aws-cdk-lib";
import { EventField, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { FailureQueue } from "./failure-queue.ts";

/** How an execution ends that did not succeed. */
const UNSUCCESSFUL = ["FAILED", "TIMED_OUT", "ABORTED"];

export interface EndedExecutionsProps {
  readonly stateMachineArn: string;
  readonly target: IFunction;
  readonly failureQueue: FailureQueue;
}

export class EndedExecutions extends Construct {
  constructor(scope: Construct, id: string, { stateMachineArn, target, failureQueue }: EndedExecutionsProps) {
    super(scope, id);
    new Rule(this, "Rule", {
      description: "Tells the function of executions that ended without finishing their run",
      eventPattern: {
        source: ["aws.states"],
        detailType: ["Step Functions Execution Status Change"],
        detail: { stateMachineArn: [stateMachineArn], status: UNSUCCESSFUL },
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
          deadLetterQueue: failureQueue.queue,
        }),
      ],
    });
  }
}
