// The topic for alarms, and the e-mail address that subscribes to it.

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
      reason: "An alarm whose e-mail was not delivered is still visible in the CloudWatch console.",
    });
  }

  // A customer managed key: CloudWatch cannot use the AWS managed key of SNS, and its alarms would not arrive.
  private key(): Key {
    const key = new Key(this, "Key", {
      description: "Encrypts the alarms in the SNS topic",
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    key.addToResourcePolicy(
      new PolicyStatement({
        sid: "AlarmsMayEncrypt",
        principals: [CLOUDWATCH],
        actions: ["kms:Decrypt", "kms:GenerateDataKey*"],
        resources: ["*"],
        // The principal alone would also allow the alarms of other AWS accounts.
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(this).account } },
      }),
    );
    return key;
  }

  // An explicit topic policy, such as the one that requires TLS, replaces the default that allows the alarms.
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
