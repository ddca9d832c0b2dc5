// The dashboard: the alarms, the last success of each account, and what its runs did.

import { Duration } from "aws-cdk-lib";
import {
  type Alarm,
  AlarmStatusWidget,
  Color,
  Dashboard,
  GraphWidget,
  GraphWidgetView,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  Stats,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { MetricName } from "../../lambdas/sync/telemetry/metrics.ts";
import { type AccountMetric, type ExecutionMetric, executionMetric } from "./metrics.ts";

const WIDTH = 24;
const THIRD = WIDTH / 3;
/** CloudWatch's limit for one widget. */
const MAX_ALARMS = 100;

export interface SyncDashboardProps {
  /** Of the deployment. */
  readonly name: string;
  readonly metric: AccountMetric;
  readonly accounts: readonly string[];
  readonly alarms: readonly Alarm[];
  readonly logGroup: ILogGroup;
  readonly stateMachineArn: string;
}

export class SyncDashboard extends Construct {
  readonly dashboardName: string;

  constructor(
    scope: Construct,
    id: string,
    { name, metric, accounts, alarms, logGroup, stateMachineArn }: SyncDashboardProps,
  ) {
    super(scope, id);
    this.dashboardName = name;
    new Dashboard(this, "Dashboard", {
      dashboardName: this.dashboardName,
      defaultInterval: Duration.days(14),
      widgets: [
        ...alarmRows(alarms),
        [lastSuccess(logGroup)],
        executionsRow(stateMachineArn),
        ...accounts.flatMap((account) => accountRows(metric, account)),
      ],
    });
  }
}

function alarmRows(alarms: readonly Alarm[]): IWidget[][] {
  const starts = Array.from({ length: Math.ceil(alarms.length / MAX_ALARMS) }, (_, row) => row * MAX_ALARMS);
  return starts.map((start) => {
    const shown = alarms.slice(start, start + MAX_ALARMS);
    return [new AlarmStatusWidget({ title: "Alarms", alarms: shown, width: WIDTH, height: 3 })];
  });
}

// The metrics of each attempt are a line of the log, so the log shows the latest publication.
function lastSuccess(logGroup: ILogGroup): IWidget {
  return new LogQueryWidget({
    title: "Last success of each account",
    logGroupNames: [logGroup.logGroupName],
    view: LogQueryVisualizationType.TABLE,
    queryLines: [
      "fields @timestamp as published_at, account, Events, Added, Changed, Removed",
      "filter Published = 1",
      "sort @timestamp desc",
      "dedup account",
    ],
    width: WIDTH,
    height: 4,
  });
}

/** Runs that were handed over to the state machine. */
function executionsRow(stateMachineArn: string): IWidget[] {
  const metric = (name: ExecutionMetric, label: string, color?: string) =>
    executionMetric(stateMachineArn, name, { label, ...(color === undefined ? {} : { color }) });
  const counted = {
    started: metric("ExecutionsStarted", "Started", Color.BLUE),
    redriven: metric("ExecutionsRedriven", "Redriven", Color.PURPLE),
    succeeded: metric("ExecutionsSucceeded", "Succeeded", Color.GREEN),
    failed: metric("ExecutionsFailed", "Failed", Color.RED),
    timedOut: metric("ExecutionsTimedOut", "Timed out", Color.ORANGE),
    aborted: metric("ExecutionsAborted", "Aborted", Color.BROWN),
  };
  const total = (name: keyof typeof counted): string => `RUNNING_SUM(FILL(${name}, 0))`;
  // The engine counts no running executions of one state machine. One that began before the graph lowers it by one.
  const running = new MathExpression({
    expression: `${total("started")} + ${total("redriven")} - ${total("succeeded")} - ${total("failed")} - ${total("timedOut")} - ${total("aborted")}`,
    usingMetrics: counted,
    label: "Running",
    period: Duration.minutes(5),
  });
  const graph = (title: string, left: readonly IMetric[], more = {}): IWidget =>
    new GraphWidget({
      title: `executions: ${title}`,
      left: [...left],
      leftYAxis: { min: 0, showUnits: false },
      width: WIDTH / 2,
      height: 5,
      ...more,
    });
  return [
    graph("running", [running]),
    graph("how they ended", Object.values(counted), {
      view: GraphWidgetView.BAR,
      setPeriodToTimeRange: true,
    }),
  ];
}

function accountRows(metric: AccountMetric, account: string): IWidget[][] {
  const values = (...names: readonly MetricName[]) =>
    names.map((name) => metric(account, name, { statistic: Stats.MAXIMUM, label: name }));
  const outcomes = [
    metric(account, "Published", { label: "Published", color: Color.GREEN }),
    metric(account, "Held", { label: "Held", color: Color.ORANGE }),
    metric(account, "Failed", { label: "Failed", color: Color.RED }),
    metric(account, "Skipped", { label: "Skipped", color: Color.GREY }),
    metric(account, "Superseded", { label: "Superseded", color: Color.PURPLE }),
    metric(account, "EventNotSent", { label: "Event not sent", color: Color.BROWN }),
  ];
  const graph = (title: string, left: readonly ReturnType<AccountMetric>[], isBar = false): IWidget =>
    new GraphWidget({
      title: `${account}: ${title}`,
      left: [...left],
      leftYAxis: { min: 0, showUnits: false },
      ...(isBar ? { view: GraphWidgetView.BAR, setPeriodToTimeRange: true } : {}),
      width: THIRD,
      height: 5,
    });
  return [
    [new TextWidget({ markdown: `## ${account}`, width: WIDTH, height: 1 })],
    [
      graph("outcomes", outcomes, true),
      graph("events", values("Events")),
      graph("added, changed, removed, left out", values("Added", "Changed", "Removed", "LeftOut")),
    ],
    [
      graph("duration in seconds", values("DurationSeconds")),
      graph("requests, percent of the budget", values("BudgetShare")),
      graph("retries, throttled responses", values("Retries", "Throttled")),
    ],
  ];
}
