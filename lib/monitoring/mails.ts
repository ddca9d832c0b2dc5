// The mails that say which snapshot is held and which run has failed, why, and what to do: rules from the event bus to
// the topic.

import { Duration, Stack } from "aws-cdk-lib";
import { EventField, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { EVENT_SOURCE } from "../../lambdas/job/run/record/run-event.ts";
import { MAIL_SECTIONS, type Mail } from "../../lambdas/sync/telemetry/mail.ts";

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

export function addMails(parent: Construct, props: MailsProps): void {
  const scope = new Construct(parent, "Mails");
  const { account, region } = Stack.of(scope);
  // No double quotes: they would have a backslash before them in the mail.
  const invoke = (payload: string, options = "--cli-read-timeout 900"): string =>
    `aws lambda invoke --region ${region} --function-name ${props.functionName}:live ${options} --cli-binary-format base64 --payload ${payload} /dev/stdout`;
  const addRule = (id: string, detailType: keyof typeof MAIL_SECTIONS, lines: readonly string[]): void => {
    const message = [
      line("what"),
      `Why: ${line("why")}`,
      ...lines,
      `Where: the warehouse ${props.warehouse} in the AWS account ${account}`,
      `What to do, step by step: ${props.runbookUrl}#${line("section")}`,
    ];
    new Rule(scope, id, {
      description: `Sends a mail for the event ${detailType}`,
      eventPattern: {
        source: [EVENT_SOURCE],
        detailType: [detailType],
        detail: { workgroup: [props.workgroup], mail: { section: [...MAIL_SECTIONS[detailType]] } },
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
  addRule("Held", "Snapshot Held", [
    line("effect"),
    `The first events of each kind: ${line("examples")}`,
    `To see what publishing it would change: ${invoke(line("diff"))}`,
    `To publish it anyway: ${invoke(line("accept"))}`,
    `To leave it, do nothing. ${line("wait")}`,
  ]);
  addRule("Failed", "Run Failed", [
    `When the cause is removed, check: ${invoke(line("check"))}`,
    `Then run: ${invoke(line("run"), "--invocation-type Event")}`,
  ]);
}

function line(key: keyof Mail): string {
  return EventField.fromPath(`$.detail.mail.${key}`);
}
