// The dashboard: every account at a glance, the executions, and what each account's runs did.

import { Duration } from "aws-cdk-lib";
import {
  Color,
  Dashboard,
  GraphWidget,
  GraphWidgetView,
  type IMetric,
  type IWidget,
  MathExpression,
  Stats,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { MetricName } from "../../lambdas/sync/telemetry/metrics.ts";
import { type GlanceProps, glanceRows } from "./glance.ts";
import { type AccountMetric, type ExecutionMetric, executionMetric } from "./metrics.ts";

const WIDTH = 24;
const THIRD = WIDTH / 3;

interface SyncDashboardProps extends GlanceProps {
  /** Of the deployment. */
  readonly name: string;
  readonly stateMachineArn: string;
}

export class SyncDashboard extends Construct {
  readonly dashboardName: string;

  constructor(scope: Construct, id: string, { name, stateMachineArn, ...glance }: SyncDashboardProps) {
    super(scope, id);
    this.dashboardName = name;
    new Dashboard(this, "Dashboard", {
      dashboardName: this.dashboardName,
      defaultInterval: Duration.days(14),
      widgets: [
        ...glanceRows(glance),
        executionsRow(stateMachineArn),
        ...glance.accounts.flatMap(({ account }) => accountRows(glance.metric, account)),
      ],
    });
  }
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
