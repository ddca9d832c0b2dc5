// The alarms. Each means one thing, keeps its state while its cause lasts, and names its section of the runbook.

import { Annotations, Duration } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  type MetricProps,
  Stats,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { FilterPattern, type ILogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { systemClock } from "../../lambdas/job/runtime/clock.ts";
import { staleAfterHours } from "../../lambdas/job/settings-file/schedule.ts";
import { METRIC_DIMENSION, type MetricName } from "../../lambdas/sync/telemetry.ts";
import { leftOutStart } from "../compute/daylight-saving.ts";
import type { Settings } from "../settings.ts";

// The metrics that alarms and dashboard show, as CloudWatch names them. By default sums over five minutes.

type Shown = Pick<MetricProps, "statistic" | "period" | "label" | "color">;

const DEFAULTS = { statistic: Stats.SUM, period: Duration.minutes(5) };

export type AccountMetric = (account: string, metricName: MetricName, shown?: Shown) => Metric;

/** What the function of a deployment writes for each attempt. Attempts of one account never overlap. */
export function accountMetricIn(namespace: string): AccountMetric {
  return (account, metricName, shown) =>
    new Metric({
      ...DEFAULTS,
      namespace,
      metricName,
      dimensionsMap: { [METRIC_DIMENSION]: account },
      ...shown,
    });
}

/** What the engine counts for a state machine, for all accounts together: `ExecutionsFailed`. */
export function executionMetric(
  stateMachineArn: string,
  end: "Started" | "Redriven" | "Succeeded" | "Failed" | "TimedOut" | "Aborted",
  shown: Shown,
): Metric {
  return new Metric({
    ...DEFAULTS,
    namespace: "AWS/States",
    metricName: `Executions${end}`,
    dimensionsMap: { StateMachineArn: stateMachineArn },
    ...shown,
  });
}

/** More than one pause of all sixteen requests in flight. */
const MANY_THROTTLED = 20;

/** How long an alarm stays whose metric does not say that its cause is over. */
const STAYS_HOURS = 24;
const HOUR = Duration.hours(1);
const STAYS = {
  evaluationPeriods: STAYS_HOURS,
  datapointsToAlarm: 1,
  treatMissingData: TreatMissingData.NOT_BREACHING,
};

interface AlarmsProps {
  /** The name of the deployment, with which the names of the alarms begin. */
  readonly name: string;
  /** The namespace of the function's metrics. */
  readonly metricNamespace: string;
  readonly settings: Settings;
  readonly failureQueue: IQueue;
  readonly stateMachineArn: string;
  readonly logGroup: ILogGroup;
  readonly topic: ITopic;
}

/** Raised where the metric is above 0, unless it says another condition. */
interface AlarmSpec extends Partial<Omit<AlarmProps, "metric">> {
  /** The end of the alarm's name and the anchor of its section in the runbook. */
  readonly section: string;
  readonly meaning: string;
  readonly metric: IMetric;
  /** A mail of its own says what happened and why, so the alarm sends one only when it is over. */
  readonly isTold?: true;
}

export interface DeploymentAlarms {
  readonly byAccount: readonly {
    readonly account: string;
    readonly alarms: readonly Alarm[];
    /** After so many hours without a publication its data are stale; undefined where no alarm says so. */
    readonly staleAfterHours: number | undefined;
  }[];
  readonly ofAll: readonly Alarm[];
}

export function addAlarms(parent: Construct, props: AlarmsProps): DeploymentAlarms {
  const { accounts, runbookUrl } = props.settings;
  const metric = accountMetricIn(props.metricNamespace);
  const unsentEvents = unsentEventsMetric(parent, props);
  const scope = new Construct(parent, "Alarms");
  if (!/^https?:/.test(runbookUrl)) {
    Annotations.of(scope).addInfo(
      `eventSync.runbookUrl: ${runbookUrl} is not an address, so the mails of the alarms have no link to the runbook. Set the address at which your team reads docs/runbook.md.`,
    );
  }
  const mail = new SnsAction(props.topic);
  const addAlarm = ({ section, meaning, isTold, ...condition }: AlarmSpec, account?: string): Alarm => {
    const id = account === undefined ? section : `${account}-${section}`;
    const alarm = new Alarm(scope, id, {
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      threshold: 0,
      evaluationPeriods: 1,
      // Without data the alarm keeps its state: nothing has shown that its cause is over.
      treatMissingData: TreatMissingData.IGNORE,
      ...condition,
      alarmName: `${props.name}-${id}`,
      alarmDescription: `${meaning} What to do: ${runbookUrl}#${section}`,
    });
    if (!isTold) alarm.addAlarmAction(mail);
    alarm.addOkAction(mail);
    return alarm;
  };
  const byAccount = Object.entries(accounts).map(([account, settings]) => {
    const staleAfter = staleAfterHours(settings);
    const specs = [
      ...runAlarms(metric, account, settings),
      ...(staleAfter === undefined ? [] : [staleAlarm(metric, account, settings, staleAfter)]),
    ];
    if (staleAfter === undefined && settings.enabled) {
      Annotations.of(scope).addInfo(
        `eventSync.accounts.${account}.schedule: too rare for the alarm "stale", because an alarm looks back 7 days at most. The other alarms work. Set staleAfterHours to get this alarm too.`,
      );
    }
    const alarms = specs.map((spec) => addAlarm(spec, account));
    return { account, alarms, staleAfterHours: staleAfter };
  });
  const ofAll = [
    {
      section: "failure-queue",
      meaning: "A start failed for good: all its attempts failed, or it waited for an hour.",
      metric: props.failureQueue.metricApproximateNumberOfMessagesVisible({
        statistic: Stats.MAXIMUM,
        period: Duration.minutes(5),
      }),
    },
    {
      section: "execution",
      meaning: `An execution of the state machine ended in the last ${STAYS_HOURS} hours without finishing its run.`,
      metric: unsuccessfulExecutions(props.stateMachineArn),
      ...STAYS,
    },
    {
      section: "not-told",
      meaning: `An event about a run was not sent in the last ${STAYS_HOURS} hours, so a mail about a held snapshot or a failed run may be missing.`,
      metric: unsentEvents,
      ...STAYS,
    },
  ];
  return { byAccount, ofAll: ofAll.map((spec) => addAlarm(spec)) };
}

function runAlarms(
  metric: AccountMetric,
  account: string,
  { leftOutAlarmAbove }: Settings["accounts"][string],
): readonly AlarmSpec[] {
  return [
    {
      section: "failed",
      meaning: `A run of the account ${account} failed, and a retry does not fix it. Readers keep the snapshot they have.`,
      metric: metric(account, "Failed"),
      isTold: true,
    },
    {
      section: "held",
      meaning: `A snapshot of the account ${account} is complete, but has too few or too many events, lacks details or required fields, or the account is pinned. It waits for a person; readers keep the snapshot they have.`,
      metric: metric(account, "Held"),
      isTold: true,
    },
    {
      section: "throttled",
      meaning: `The service returned 429 to the account ${account} more than ${MANY_THROTTLED} times in one run.`,
      metric: metric(account, "Throttled", { statistic: Stats.MAXIMUM }),
      threshold: MANY_THROTTLED,
    },
    {
      section: "left-out",
      meaning: `More than ${leftOutAlarmAbove} listed events of the account ${account} have no row in the snapshot.`,
      metric: metric(account, "LeftOut", { statistic: Stats.MAXIMUM }),
      threshold: leftOutAlarmAbove,
    },
    {
      section: "login-refused",
      meaning: `The service refused the credentials of the account ${account}. The schedule sends no login until they are changed, a check or run by hand succeeds, or 24 hours have passed.`,
      metric: metric(account, "LoginRefused"),
      isTold: true,
    },
    {
      section: "catalog-behind",
      meaning: `The tables of the account ${account} could not be brought up to the latest publication. Readers may see an older snapshot.`,
      metric: metric(account, "CatalogBehind"),
    },
  ];
}

/** An hour without a run has no data, and a function that never starts has none at all: that is the cause itself. */
function staleAlarm(
  metric: AccountMetric,
  account: string,
  settings: Settings["accounts"][string],
  hours: number,
): AlarmSpec {
  const isMoved = leftOutStart(settings, new Date(systemClock.now())) !== undefined;
  return {
    section: "stale",
    meaning: `Nothing was published for the account ${account} in ${hours} hours.${isMoved ? " It is also raised on the day the clocks go forward, whose start they leave out." : ""}`,
    metric: metric(account, "Published", { period: HOUR }),
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    threshold: 1,
    evaluationPeriods: hours,
    treatMissingData: TreatMissingData.BREACHING,
  };
}

/** Independent of the function: also where no event about the execution arrives, or the function cannot start. */
function unsuccessfulExecutions(stateMachineArn: string): MathExpression {
  return new MathExpression({
    // A metric without data in an hour would leave the sum without a value.
    expression: "FILL(failed, 0) + FILL(timedOut, 0) + FILL(aborted, 0)",
    usingMetrics: {
      failed: executionMetric(stateMachineArn, "Failed", { period: HOUR }),
      timedOut: executionMetric(stateMachineArn, "TimedOut", { period: HOUR }),
      aborted: executionMetric(stateMachineArn, "Aborted", { period: HOUR }),
    },
    label: "Executions that did not succeed",
    period: HOUR,
  });
}

/** The metric of all accounts, which has no data where every event was sent. */
function unsentEventsMetric(parent: Construct, { logGroup, metricNamespace }: AlarmsProps): IMetric {
  // As the function writes it, for one account. An alarm cannot add up the metrics of accounts that it does not name,
  // and takes ten at most.
  const ofAccount: MetricName = "EventNotSent";
  const filter = new MetricFilter(new Construct(parent, "UnsentEvents"), "Filter", {
    logGroup,
    filterPattern: FilterPattern.numberValue(`$.${ofAccount}`, "=", 1),
    metricNamespace,
    metricName: "EventsNotSent",
    metricValue: "1",
  });
  return filter.metric({ statistic: Stats.SUM, period: HOUR });
}
