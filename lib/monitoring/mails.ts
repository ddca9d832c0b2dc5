// The topic for alarms, and the e-mail address that subscribes to it.

import { Annotations, ArnFormat, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { EventField, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type IKey, Key } from "aws-cdk-lib/aws-kms";
import { type ITopic, Subscription, SubscriptionProtocol, Topic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { EVENT_SOURCE } from "../../lambdas/job/run/record/run-event.ts";
import { MAILS, type Mail, mailLine } from "../../lambdas/sync/telemetry.ts";
import { acknowledge } from "../acknowledge.ts";

const CLOUDWATCH = new ServicePrincipal("cloudwatch.amazonaws.com");

interface AlarmTopicProps {
  /** The topic, if the app brings one. */
  readonly given: ITopic | undefined;
  readonly email: string | undefined;
  readonly encryptionKey: IKey | undefined;
}

export function addAlarmTopic(parent: Construct, { given, email, encryptionKey }: AlarmTopicProps): ITopic {
  const scope = new Construct(parent, "AlarmTopic");
  const topic = given ?? newTopic(scope, encryptionKey);
  allowAlarms(scope, topic);
  if (email === undefined) {
    if (given === undefined) {
      Annotations.of(parent).addInfo("eventSync.alarmEmail: not set, so alarms send no e-mail.");
    }
    return topic;
  }
  const subscription = new Subscription(scope, "Email", {
    topic,
    protocol: SubscriptionProtocol.EMAIL,
    endpoint: email,
  });
  acknowledge(subscription, {
    id: "Serverless-SNSRedrivePolicy",
    reason: "An alarm whose e-mail was not delivered is still visible in the CloudWatch console.",
  });
  return topic;
}

function newTopic(scope: Construct, encryptionKey: IKey | undefined): ITopic {
  const masterKey =
    encryptionKey ??
    // A customer managed key: CloudWatch cannot use the AWS managed key of SNS, and its alarms would not arrive.
    new Key(scope, "Key", {
      description: "Encrypts the alarms in the SNS topic",
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  const { statementAdded } = masterKey.addToResourcePolicy(
    new PolicyStatement({
      sid: "AlarmsMayEncrypt",
      principals: [CLOUDWATCH],
      actions: ["kms:Decrypt", "kms:GenerateDataKey*"],
      resources: ["*"],
      // The principal alone would also allow the alarms of other AWS accounts.
      conditions: { StringEquals: { "aws:SourceAccount": Stack.of(scope).account } },
    }),
  );
  if (!statementAdded) {
    Annotations.of(scope).addWarningV2(
      "brand-events-sync:key",
      `The policy of the key ${masterKey.node.path} is not part of this app. It must allow cloudwatch.amazonaws.com and events.amazonaws.com kms:Decrypt and kms:GenerateDataKey*, or no alarm and no mail arrives (docs/cdk.md, "A key of your own"). Add that, then acknowledge this warning.`,
    );
  }
  return new Topic(scope, "Topic", { displayName: "Brand events sync: alarms", masterKey, enforceSSL: true });
}

// An explicit topic policy, such as the one that requires TLS, replaces the default that allows the alarms.
function allowAlarms(scope: Construct, topic: ITopic): void {
  const stack = Stack.of(scope);
  const alarms = stack.formatArn({
    service: "cloudwatch",
    resource: "alarm",
    resourceName: "*",
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const { statementAdded } = topic.addToResourcePolicy(
    new PolicyStatement({
      sid: "AlarmsMayPublish",
      principals: [CLOUDWATCH],
      actions: ["sns:Publish"],
      resources: [topic.topicArn],
      conditions: {
        StringEquals: { "aws:SourceAccount": stack.account },
        ArnLike: { "aws:SourceArn": alarms },
      },
    }),
  );
  if (statementAdded) return;
  Annotations.of(scope).addWarningV2(
    "brand-events-sync:topic",
    `The policy of the topic ${topic.node.path} is not part of this app. It must allow cloudwatch.amazonaws.com and events.amazonaws.com sns:Publish (docs/cdk.md, "A topic of your own"). Add that, then acknowledge this warning.`,
  );
}

interface MailsProps {
  /** Of the deployment: the events of another one on the same bus have another workgroup. */
  readonly workgroup: string;
  /** `s3://…`. */
  readonly warehouse: string;
  readonly topic: ITopic;
  /** The queue for mails that cannot be delivered to the topic. */
  readonly failureQueue: IQueue;
  /** The address of `docs/runbook.md`. */
  readonly runbookUrl: string;
}

export function addMails(parent: Construct, props: MailsProps): void {
  const scope = new Construct(parent, "Mails");
  const addRule = (id: string, detailType: keyof typeof MAILS): void => {
    const { sections, lines } = MAILS[detailType];
    const message = [
      ...Array.from({ length: lines }, (_, index) => inMail(mailLine(index))),
      `Where: the warehouse ${props.warehouse} in the AWS account ${Stack.of(scope).account}`,
      `What to do, step by step: ${props.runbookUrl}#${inMail("section")}`,
    ];
    new Rule(scope, id, {
      description: `Sends a mail for the event ${detailType}`,
      eventPattern: {
        source: [EVENT_SOURCE],
        detailType: [detailType],
        detail: { workgroup: [props.workgroup], mail: { section: [...sections] } },
      },
      targets: [
        new SnsTopic(props.topic, {
          // Each line is a JSON text of its own, as EventBridge requires, so each has quotes around it in the mail.
          message: RuleTargetInput.fromMultilineText(message.join("\n")),
          maxEventAge: Duration.hours(1),
          deadLetterQueue: props.failureQueue,
        }),
      ],
    });
  };
  addRule("Held", "Snapshot Held");
  addRule("Failed", "Run Failed");
}

function inMail(key: keyof Mail): string {
  return EventField.fromPath(`$.detail.mail.${key}`);
}
