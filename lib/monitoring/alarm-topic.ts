// Where alarms go: one topic, and the e-mail address that is told.

import { ArnFormat, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Subscription, SubscriptionProtocol, Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";

const CLOUDWATCH = new ServicePrincipal("cloudwatch.amazonaws.com");

export class AlarmTopic extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, email: string | undefined) {
    super(scope, id);
    this.topic = new Topic(this, "Topic", {
      displayName: "Brand events sync: alarms",
      masterKey: this.key(),
      enforceSSL: true,
    });
    this.allowAlarms();
    if (email === undefined) return;
    const subscription = new Subscription(this, "Email", {
      topic: this.topic,
      protocol: SubscriptionProtocol.EMAIL,
      endpoint: email,
    });
    Validations.of(subscription).acknowledge({
      id: "Serverless-SNSRedrivePolicy",
      reason: "What an e-mail address did not get is still to be seen: the alarm stays in the console.",
    });
  }

  // A key of our own: alarms cannot use the one that AWS keeps for SNS, and would be silent.
  private key(): Key {
    const key = new Key(this, "Key", {
      description: "Encrypts the alarms on their way to the subscribers",
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    key.addToResourcePolicy(
      new PolicyStatement({
        sid: "AlarmsMayEncrypt",
        principals: [CLOUDWATCH],
        actions: ["kms:Decrypt", "kms:GenerateDataKey*"],
        resources: ["*"],
        // Alarms of another AWS account are CloudWatch too.
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(this).account } },
      }),
    );
    return key;
  }

  // A policy of its own, which the demand for TLS is too, replaces the one that lets the account's alarms in.
  private allowAlarms(): void {
    const stack = Stack.of(this);
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        sid: "AlarmsMayPublish",
        principals: [CLOUDWATCH],
        actions: ["sns:Publish"],
        resources: [this.topic.topicArn],
        conditions: {
          StringEquals: { "aws:SourceAccount": stack.account },
          ArnLike: {
            "aws:SourceArn": stack.formatArn({
              service: "cloudwatch",
              resource: "alarm",
              resourceName: "*",
              arnFormat: ArnFormat.COLON_RESOURCE_NAME,
            }),
          },
        },
      }),
    );
  }
}
