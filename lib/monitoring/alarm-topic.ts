// The topic for alarms, and the e-mail address that subscribes to it.

import { Annotations, ArnFormat, RemovalPolicy, Stack } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type IKey, Key } from "aws-cdk-lib/aws-kms";
import { type ITopic, Subscription, SubscriptionProtocol, Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import { acknowledge } from "../acknowledge.ts";

const CLOUDWATCH = new ServicePrincipal("cloudwatch.amazonaws.com");

interface AlarmTopicProps {
  /** The topic, if the app brings one. */
  readonly given: ITopic | undefined;
  readonly email: string | undefined;
  readonly encryptionKey: IKey | undefined;
}

export class AlarmTopic extends Construct {
  readonly topic: ITopic;

  constructor(scope: Construct, id: string, { given, email, encryptionKey }: AlarmTopicProps) {
    super(scope, id);
    this.topic = given ?? this.newTopic(encryptionKey);
    this.allowAlarms();
    if (email === undefined) return;
    const subscription = new Subscription(this, "Email", {
      topic: this.topic,
      protocol: SubscriptionProtocol.EMAIL,
      endpoint: email,
    });
    acknowledge(subscription, {
      id: "Serverless-SNSRedrivePolicy",
      reason: "An alarm whose e-mail was not delivered is still visible in the CloudWatch console.",
    });
  }

  private newTopic(encryptionKey: IKey | undefined): ITopic {
    const key = encryptionKey ?? this.newKey();
    this.allowToEncrypt(key);
    return new Topic(this, "Topic", {
      displayName: "Brand events sync: alarms",
      masterKey: key,
      enforceSSL: true,
    });
  }

  // A customer managed key: CloudWatch cannot use the AWS managed key of SNS, and its alarms would not arrive.
  private newKey(): IKey {
    return new Key(this, "Key", {
      description: "Encrypts the alarms in the SNS topic",
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  private allowToEncrypt(key: IKey): void {
    const { statementAdded } = key.addToResourcePolicy(
      new PolicyStatement({
        sid: "AlarmsMayEncrypt",
        principals: [CLOUDWATCH],
        actions: ["kms:Decrypt", "kms:GenerateDataKey*"],
        resources: ["*"],
        // The principal alone would also allow the alarms of other AWS accounts.
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(this).account } },
      }),
    );
    if (statementAdded) return;
    Annotations.of(this).addWarningV2(
      "brand-events-sync:key",
      `The policy of the key ${key.node.path} is not part of this app. It must allow cloudwatch.amazonaws.com and events.amazonaws.com kms:Decrypt and kms:GenerateDataKey*, or no alarm and no mail arrives (docs/cdk.md, "A key of your own"). Add that, then acknowledge this warning.`,
    );
  }

  // An explicit topic policy, such as the one that requires TLS, replaces the default that allows the alarms.
  private allowAlarms(): void {
    const stack = Stack.of(this);
    const { statementAdded } = this.topic.addToResourcePolicy(
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
    if (statementAdded) return;
    Annotations.of(this).addWarningV2(
      "brand-events-sync:topic",
      `The policy of the topic ${this.topic.node.path} is not part of this app. It must allow cloudwatch.amazonaws.com and events.amazonaws.com sns:Publish (docs/cdk.md, "A topic of your own"). Add that, then acknowledge this warning.`,
    );
  }
}
