// Where a start ends that nobody could carry out: all retries spent, or too old to be tried again.

import { Duration, Validations } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

export class FailureQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.queue = new Queue(this, "Queue", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // The longest there is: a person reads it, perhaps after a holiday.
      retentionPeriod: Duration.days(14),
    });
    const reason = "It is the queue for what has failed; a person empties it, and an alarm says when to.";
    Validations.of(this.queue).acknowledge(
      { id: "AwsSolutions-SQS3", reason },
      { id: "Serverless-SQSRedrivePolicy", reason },
    );
  }

  /** Lets whoever starts the function put here what was in vain, under its role. */
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
