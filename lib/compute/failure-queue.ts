// The queue for starts that failed for good: all retries failed, or the start was too old to retry.

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
      // The maximum of SQS: a person reads the messages, perhaps after a holiday.
      retentionPeriod: Duration.days(14),
    });
    const reason = "This is the queue for failed starts. A person empties it, and an alarm says when.";
    Validations.of(this.queue).acknowledge(
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
