// The mails that say which snapshot is held and which run has failed, why, and what to do: rules from the event bus to
// the topic.

import { Duration, Stack } from "aws-cdk-lib";
import { type IMetric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { EventBus, EventField, type IEventBus, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { FilterPattern, type ILogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { EVENT_SOURCE } from "../../lambdas/job/run/record/run-event.ts";
import type { FunctionSettings } from "../../lambdas/sync/environment.ts";
import { MAIL_SECTIONS, type Mail } from "../../lambdas/sync/telemetry/mail.ts";
import type { MetricName } from "../../lambdas/sync/telemetry/metrics.ts";

export class DefaultEventBus extends Construct {
  private readonly bus: IEventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.bus = EventBus.fromEventBusName(this, "Bus", "default");
  }

  /** Allows the function to send events with its own source only, and returns the bus. */
  grantTo(role: Role): Pick<FunctionSettings, "eventBus"> {
    role.addToPolicy(
      new PolicyStatement({
        sid: "Announce",
        actions: ["events:PutEvents"],
        resources: [this.bus.eventBusArn],
        // Other rules on this bus trust the source of an event.
        conditions: { StringEquals: { "events:source": EVENT_SOURCE } },
      }),
    );
    return { eventBus: this.bus.eventBusName };
  }
}

interface MailsProps {
  /** Of the deployment: the events of another one on the same bus have another workgroup. */
  readonly workgroup: string;
  readonly functionName: string;
  /** `s3://…`. */
  readonly warehouse: string;
  readonly topic: ITopic;
  /** For a mail that cannot be delivered to the topic. */
  readonly failureQueue: IQueue;
  /** The address of `docs/runbook.md`. */
  readonly runbookUrl: string;
}

export class Mails extends Construct {
  constructor(scope: Construct, id: string, props: MailsProps) {
    super(scope, id);
    const where = `Where: the warehouse ${props.warehouse} in the AWS account ${Stack.of(this).account}`;
    const runbook = `What to do, step by step: ${props.runbookUrl}#${line("section")}`;
    this.rule("Held", "Snapshot Held", props, [
      line("what"),
      `Why: ${line("why")}`,
      line("effect"),
      `The first events of each kind: ${line("examples")}`,
      `To see what publishing it would change: ${this.invoke(props, line("diff"))}`,
      `To publish it anyway: ${this.invoke(props, line("accept"))}`,
      `To leave it, do nothing. ${line("wait")}`,
      where,
      runbook,
    ]);
    this.rule("Failed", "Run Failed", props, [
      line("what"),
      `Why: ${line("why")}`,
      `When the cause is removed, check: ${this.invoke(props, line("check"))}`,
      `Then run: ${this.invoke(props, line("run"), "--invocation-type Event")}`,
      where,
      runbook,
    ]);
  }

  private rule(
    id: string,
    detailType: keyof typeof MAIL_SECTIONS,
    { workgroup, topic, failureQueue }: MailsProps,
    lines: readonly string[],
  ): void {
    new Rule(this, id, {
      description: `Sends a mail for the event ${detailType}`,
      eventPattern: {
        source: [EVENT_SOURCE],
        detailType: [detailType],
        detail: { workgroup: [workgroup], mail: { section: [...MAIL_SECTIONS[detailType]] } },
      },
      targets: [
        new SnsTopic(topic, {
          // Each line is a JSON text of its own, as EventBridge requires, so each has quotes around it in the mail.
          message: RuleTargetInput.fromMultilineText(lines.join("\n")),
          maxEventAge: Duration.hours(1),
          deadLetterQueue: failureQueue,
        }),
      ],
    });
  }

  /** No double quotes: they would have a backslash before them in the mail. */
  private invoke({ functionName }: MailsProps, payload: string, options = "--cli-read-timeout 900"): string {
    return `aws lambda invoke --region ${Stack.of(this).region} --function-name ${functionName}:live ${options} --cli-binary-format base64 --payload ${payload} /dev/stdout`;
  }
}

function line(key: keyof Mail): string {
  return EventField.fromPath(`$.detail.mail.${key}`);
}

/** As the function writes it, for one account. */
const EVENT_NOT_SENT: MetricName = "EventNotSent";

export class UnsentEvents extends Construct {
  /** Per hour. Without data where every event was sent. */
  readonly metric: IMetric;

  /** @param namespace of the function's metrics */
  constructor(scope: Construct, id: string, namespace: string, logGroup: ILogGroup) {
    super(scope, id);
    // An alarm cannot add up the metrics of accounts that it does not name, and takes ten at most.
    const filter = new MetricFilter(this, "Filter", {
      logGroup,
      filterPattern: FilterPattern.numberValue(`$.${EVENT_NOT_SENT}`, "=", 1),
      metricNamespace: namespace,
      metricName: "EventsNotSent",
      metricValue: "1",
    });
    this.metric = filter.metric({ statistic: Stats.SUM, period: Duration.hours(1) });
  }
}
