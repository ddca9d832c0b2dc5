// What wakes somebody up. Each alarm means one thing and names its section of the runbook.

import { Annotations, Duration, Stack } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, Stats, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { AccountSettings } from "../settings/settings.ts";
import { staleAfterHours } from "../settings/stale-after.ts";
import { accountMetric } from "./metrics.ts";

/** A pause of all sixteen requests in flight is nothing to wake up for. */
const MANY_THROTTLED = 20;

export interface AlarmsProps {
  readonly accounts: Readonly<Record<string, AccountSettings>>;
  readonly failureQueue: IQueue;
  readonly topic: ITopic;
  /** Where `docs/runbook.md` is to be read. */
  readonly runbookUrl: string;
}

interface AlarmSpec {
  /** The end of its name and the anchor of its section in the runbook. */
  readonly section: string;
  readonly meaning: string;
  readonly metric: IMetric;
  readonly above: number;
}

export class Alarms extends Construct {
  /** In the order of the accounts, the one of the failure queue last. */
  readonly all: readonly Alarm[];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const ofAccounts = Object.entries(props.accounts).flatMap(([account, settings]) => [
      ...this.runAlarms(account, settings, props),
      ...this.staleAlarm(account, settings, props),
    ]);
    const failureQueue = this.alarm("failure-queue", props, {
      section: "failure-queue",
      meaning: "A start was given up: all its attempts failed, or it could not be started within an hour.",
      metric: props.failureQueue.metricApproximateNumberOfMessagesVisible({
        statistic: Stats.MAXIMUM,
        period: Duration.minutes(5),
      }),
      above: 0,
    });
    this.all = [...ofAccounts, failureQueue];
  }

  private runAlarms(account: string, settings: AccountSettings, props: AlarmsProps): readonly Alarm[] {
    const { leftOutAlarmAbove } = settings;
    const specs: readonly AlarmSpec[] = [
      {
        section: "failed",
        meaning: `A run of the account ${account} failed, and no retry mends it. Readers keep the snapshot they have.`,
        metric: accountMetric(account, "Failed"),
        above: 0,
      },
      {
        section: "held",
        meaning: `A snapshot of the account ${account} is complete and looks wrong, so it waits for a person.`,
        metric: accountMetric(account, "Held"),
        above: 0,
      },
      {
        section: "throttled",
        meaning: `The service told the account ${account} to slow down more than ${MANY_THROTTLED} times in one run.`,
        metric: accountMetric(account, "Throttled", { statistic: Stats.MAXIMUM }),
        above: MANY_THROTTLED,
      },
      {
        section: "left-out",
        meaning: `More than ${leftOutAlarmAbove} listed events of the account ${account} have no row in the snapshot.`,
        metric: accountMetric(account, "LeftOut", { statistic: Stats.MAXIMUM }),
        above: leftOutAlarmAbove,
      },
      {
        section: "login-refused",
        meaning: `The service refused the credentials of the account ${account}. The schedule sends no login until they are changed, a check or run by hand succeeds, or 24 hours have passed.`,
        metric: accountMetric(account, "LoginRefused"),
        above: 0,
      },
    ];
    return specs.map((spec) => this.alarm(`${account}-${spec.section}`, props, spec));
  }

  private staleAlarm(account: string, settings: AccountSettings, props: AlarmsProps): readonly Alarm[] {
    const hours = staleAfterHours(settings);
    if (hours === undefined) {
      if (settings.enabled) {
        Annotations.of(this).addInfo(
          `eventSync.accounts.${account}.schedule: rarer than an alarm can look back (7 days), so nothing says when this account's data is stale; the other alarms do their work. Set staleAfterHours for one all the same.`,
        );
      }
      return [];
    }
    const alarm = new Alarm(this, `${account}-stale`, {
      ...this.naming(`${account}-stale`, props, {
        section: "stale",
        meaning: `Nothing was published for the account ${account} in ${hours} hours.`,
      }),
      metric: accountMetric(account, "Published", { period: Duration.hours(1) }),
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: hours,
      // An hour without a run has no data, and a function that never starts has none at all.
      treatMissingData: TreatMissingData.BREACHING,
    });
    alarm.addAlarmAction(new SnsAction(props.topic));
    return [alarm];
  }

  private alarm(id: string, props: AlarmsProps, spec: AlarmSpec): Alarm {
    const alarm = new Alarm(this, id, {
      ...this.naming(id, props, spec),
      metric: spec.metric,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      threshold: spec.above,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(new SnsAction(props.topic));
    return alarm;
  }

  private naming(
    id: string,
    { runbookUrl }: AlarmsProps,
    { section, meaning }: Pick<AlarmSpec, "section" | "meaning">,
  ): { readonly alarmName: string; readonly alarmDescription: string } {
    return {
      alarmName: `${Stack.of(this).stackName}-${id}`,
      alarmDescription: `${meaning} What to do: ${runbookUrl}#${section}`,
    };
  }
}
