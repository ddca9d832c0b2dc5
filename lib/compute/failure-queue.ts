// The queue for starts that failed for good: all retries failed, or the start was too old to retry.

import { Duration } from "aws-cdk-lib";
import { EventField, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";

export class FailureQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.queue = new Queue(this, "Queue", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // The maximum of SQS: a person reads the messages, perhaps after a holiday.
      retentionPeriod: Duration.days(14),
    });
    const reason = "This is the queue for failed starts. A person empties it, and an alarm says when.";
    acknowledge(
      this.queue,
      { id: "AwsSolutions-SQS3", reason },
      { id: "Serverless-SQSRedrivePolicy", reason },
    );
  }

  /** Allows the role to put failed starts here. */
  grantTo(role: Role): void {
    role.addToPolicy(
      new PolicyStatement({
        sid: "ReportFailures",
        actions: ["sqs:SendMessage"],
        resources: [this.queue.queueArn],
      }),
    );
  }
}

/** How an execution ends that did not succeed. */
const UNSUCCESSFUL = ["FAILED", "TIMED_OUT", "ABORTED"];

interface EndedExecutionsProps {
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
