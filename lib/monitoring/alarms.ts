// The alarms. Each means one thing, keeps its state while its cause lasts, and names its section of the runbook.

import { Annotations, Duration } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { staleAfterHours } from "../../lambdas/job/settings-file/schedule.ts";
import type { DeployedAccount } from "../settings/settings.ts";
import type { AccountGlance } from "./dashboard.ts";
import { type AccountMetric, executionMetric } from "./metrics.ts";

/** More than one pause of all sixteen requests in flight. */
const MANY_THROTTLED = 20;

interface AlarmsProps {
  /** Of the deployment: the names of the alarms begin with it. */
  readonly name: string;
  readonly metric: AccountMetric;
  readonly accounts: Readonly<Record<string, DeployedAccount>>;
  readonly failureQueue: IQueue;
  readonly stateMachineArn: string;
  /** How many events did not reach the bus, per hour. */
  readonly unsentEvents: IMetric;
  readonly topic: ITopic;
  /** The address of `docs/runbook.md`. */
  readonly runbookUrl: string;
}

interface AlarmSpec {
  /** The end of the alarm's name and the anchor of its section in the runbook. */
  readonly section: string;
  readonly meaning: string;
  readonly condition: AlarmCondition;
  /** A mail of its own says what happened and why, so the alarm sends one only when it is over. */
  readonly isTold?: true;
}

export class Alarms extends Construct {
  readonly byAccount: readonly AccountGlance[];
  readonly ofAll: readonly Alarm[];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    if (!/^https?:/.test(props.runbookUrl)) {
      Annotations.of(this).addInfo(
        `eventSync.runbookUrl: ${props.runbookUrl} is not an address, so the mails of the alarms have no link to the runbook. Set the address at which your team reads docs/runbook.md.`,
      );
    }
    this.byAccount = Object.entries(props.accounts).map(([account, settings]) => ({
      account,
      staleAfterHours: staleAfterHours(settings),
      alarms: [
        ...runAlarms(props.metric, account, settings),
        ...this.staleAlarm(props.metric, account, settings),
      ].map((spec) => this.alarm(`${account}-${spec.section}`, props, spec)),
    }));
    const messages = props.failureQueue.metricApproximateNumberOfMessagesVisible({
      statistic: Stats.MAXIMUM,
      period: Duration.minutes(5),
    });
    const failureQueue = this.alarm("failure-queue", props, {
      section: "failure-queue",
      meaning: "A start failed for good: all its attempts failed, or it waited for an hour.",
      condition: above(0, messages),
    });
    const execution = this.alarm("execution", props, {
      section: "execution",
      meaning: `An execution of the state machine ended in the last ${STAYS_HOURS} hours without finishing its run.`,
      condition: unsuccessfulExecutions(props.stateMachineArn),
    });
    const notTold = this.alarm("not-told", props, {
      section: "not-told",
      meaning: `An event about a run was not sent in the last ${STAYS_HOURS} hours, so a mail about a held snapshot or a failed run may be missing.`,
      condition: {
        metric: props.unsentEvents,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        threshold: 0,
        ...STAYS,
      },
    });
    this.ofAll = [failureQueue, execution, notTold];
  }

  private staleAlarm(
    metric: AccountMetric,
    account: string,
    settings: DeployedAccount,
  ): readonly AlarmSpec[] {
    const hours = staleAfterHours(settings);
    if (hours !== undefined) {
      const meaning = `Nothing was published for the account ${account} in ${hours} hours.`;
      return [
        {
          section: "stale",
          meaning,
          condition: unpublishedFor(hours, metric(account, "Published", { period: Duration.hours(1) })),
        },
      ];
    }
    if (settings.enabled) {
      Annotations.of(this).addInfo(
        `eventSync.accounts.${account}.schedule: too rare for the alarm "stale", because an alarm looks back 7 days at most. The other alarms work. Set staleAfterHours to get this alarm too.`,
      );
    }
    return [];
  }

  private alarm(
    id: string,
    { name, runbookUrl, topic }: AlarmsProps,
    { section, meaning, condition, isTold }: AlarmSpec,
  ): Alarm {
    const alarm = new Alarm(this, id, {
      alarmName: `${name}-${id}`,
      alarmDescription: `${meaning} What to do: ${runbookUrl}#${section}`,
      ...condition,
    });
    const mail = new SnsAction(topic);
    if (!isTold) alarm.addAlarmAction(mail);
    alarm.addOkAction(mail);
    return alarm;
  }
}

function runAlarms(
  metric: AccountMetric,
  account: string,
  { leftOutAlarmAbove }: DeployedAccount,
): readonly AlarmSpec[] {
  return [
    {
      section: "failed",
      meaning: `A run of the account ${account} failed, and a retry does not fix it. Readers keep the snapshot they have.`,
      condition: above(0, metric(account, "Failed")),
      isTold: true,
    },
    {
      section: "held",
      meaning: `A snapshot of the account ${account} is complete, but has too few or too many events, lacks details or required fields, or the account is pinned. It waits for a person; readers keep the snapshot they have.`,
      condition: above(0, metric(account, "Held")),
      isTold: true,
    },
    {
      section: "throttled",
      meaning: `The service returned 429 to the account ${account} more than ${MANY_THROTTLED} times in one run.`,
      condition: above(MANY_THROTTLED, metric(account, "Throttled", { statistic: Stats.MAXIMUM })),
    },
    {
      section: "left-out",
      meaning: `More than ${leftOutAlarmAbove} listed events of the account ${account} have no row in the snapshot.`,
      condition: above(leftOutAlarmAbove, metric(account, "LeftOut", { statistic: Stats.MAXIMUM })),
    },
    {
      section: "login-refused",
      meaning: `The service refused the credentials of the account ${account}. The schedule sends no login until they are changed, a check or run by hand succeeds, or 24 hours have passed.`,
      condition: above(0, metric(account, "LoginRefused")),
      isTold: true,
    },
    {
      section: "catalog-behind",
      meaning: `The tables of the account ${account} could not be brought up to the latest publication. Readers may see an older snapshot.`,
      condition: above(0, metric(account, "CatalogBehind")),
    },
  ];
}

/** When an alarm is raised, and what no data mean for it. */
type AlarmCondition = Omit<AlarmProps, "alarmName" | "alarmDescription">;

/** How long an alarm stays whose metric does not say that its cause is over. */
const STAYS_HOURS = 24;

/** Without data the alarm keeps its state: nothing has shown that its cause is over. */
function above(threshold: number, metric: IMetric): AlarmCondition {
  return {
    metric,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    threshold,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.IGNORE,
  };
}

/** An hour without a run has no data, and a function that never starts has none at all: that is the cause itself. */
function unpublishedFor(hours: number, metric: IMetric): AlarmCondition {
  return {
    metric,
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    threshold: 1,
    evaluationPeriods: hours,
    treatMissingData: TreatMissingData.BREACHING,
  };
}

const STAYS = {
  evaluationPeriods: STAYS_HOURS,
  datapointsToAlarm: 1,
  treatMissingData: TreatMissingData.NOT_BREACHING,
} as const;

/** Independent of the function: also where no event about the execution arrives, or the function cannot start. */
function unsuccessfulExecutions(stateMachineArn: string): AlarmCondition {
  const period = Duration.hours(1);
  const metric = new MathExpression({
    // A metric without data in an hour would leave the sum without a value.
    expression: "FILL(failed, 0) + FILL(timedOut, 0) + FILL(aborted, 0)",
    usingMetrics: {
      failed: executionMetric(stateMachineArn, "ExecutionsFailed", { period }),
      timedOut: executionMetric(stateMachineArn, "ExecutionsTimedOut", { period }),
      aborted: executionMetric(stateMachineArn, "ExecutionsAborted", { period }),
    },
    label: "Executions that did not succeed",
    period,
  });
  return {
    metric,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    threshold: 0,
    ...STAYS,
  };
}
