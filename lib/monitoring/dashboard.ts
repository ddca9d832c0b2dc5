// The dashboard: every account at a glance, the executions, and what each account's runs did; and the queries of
// CloudWatch Logs Insights that are saved with the stack, two of them on the dashboard.

import { Duration } from "aws-cdk-lib";
import {
  AlarmStatusWidget,
  Color,
  Dashboard,
  GaugeWidget,
  GraphWidget,
  type GraphWidgetProps,
  GraphWidgetView,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  Shading,
  Stats,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import { CfnQueryDefinition, type ILogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { MetricName } from "../../lambdas/sync/telemetry.ts";
import { type AccountMetric, accountMetricIn, type DeploymentAlarms, executionMetric } from "./alarms.ts";

const WIDTH = 24;
const THIRD = WIDTH / 3;
const GAUGE_WIDTH = 6;
const GLANCE_HEIGHT = 4;
/** The age that is shown where an account has no limit for it. */
const LONGEST_HOURS = 48;

interface DashboardProps {
  /** The name of the deployment. */
  readonly name: string;
  /** The namespace of the function's metrics. */
  readonly metricNamespace: string;
  readonly alarms: DeploymentAlarms;
  readonly logGroup: ILogGroup;
  readonly stateMachineArn: string;
}

export function addDashboard(parent: Construct, props: DashboardProps): void {
  const { name, metricNamespace, alarms, logGroup, stateMachineArn } = props;
  const metric = accountMetricIn(metricNamespace);
  new Dashboard(new Construct(parent, "Overview"), "Dashboard", {
    dashboardName: name,
    defaultInterval: Duration.days(14),
    widgets: [
      ...glanceRows(metric, alarms, logGroup),
      executionsRow(stateMachineArn),
      ...alarms.byAccount.flatMap(({ account }) => accountRows(metric, account)),
    ],
  });
  const scope = new Construct(parent, "LogQueries");
  for (const query of LOG_QUERIES) {
    new CfnQueryDefinition(scope, query.title.replaceAll(/[^A-Za-z]/g, ""), {
      // The query's folder has the name of the deployment.
      name: `${name}/${query.title}`,
      queryString: queryText(query),
      logGroupNames: [logGroup.logGroupName],
    });
  }
}

/** Runs that were handed over to the state machine. */
function executionsRow(stateMachineArn: string): IWidget[] {
  const counted = {
    started: executionMetric(stateMachineArn, "Started", { label: "Started", color: Color.BLUE }),
    redriven: executionMetric(stateMachineArn, "Redriven", { label: "Redriven", color: Color.PURPLE }),
    succeeded: executionMetric(stateMachineArn, "Succeeded", { label: "Succeeded", color: Color.GREEN }),
    failed: executionMetric(stateMachineArn, "Failed", { label: "Failed", color: Color.RED }),
    timedOut: executionMetric(stateMachineArn, "TimedOut", { label: "Timed out", color: Color.ORANGE }),
    aborted: executionMetric(stateMachineArn, "Aborted", { label: "Aborted", color: Color.BROWN }),
  };
  const total = (name: keyof typeof counted): string => `RUNNING_SUM(FILL(${name}, 0))`;
  // The engine counts no running executions of one state machine. One that began before the graph lowers it by one.
  const running = new MathExpression({
    expression: `${total("started")} + ${total("redriven")} - ${total("succeeded")} - ${total("failed")} - ${total("timedOut")} - ${total("aborted")}`,
    usingMetrics: counted,
    label: "Running",
    period: Duration.minutes(5),
  });
  return [
    graph({ title: "executions: running", left: [running], width: WIDTH / 2 }),
    bars({ title: "executions: how they ended", left: Object.values(counted), width: WIDTH / 2 }),
  ];
}

function accountRows(metric: AccountMetric, account: string): IWidget[][] {
  const outcome = (name: MetricName, color: string, label: string = name) =>
    metric(account, name, { label, color });
  const outcomes = [
    outcome("Published", Color.GREEN),
    outcome("Held", Color.ORANGE),
    outcome("Failed", Color.RED),
    outcome("Skipped", Color.GREY),
    outcome("Superseded", Color.PURPLE),
    outcome("EventNotSent", Color.BROWN, "Event not sent"),
  ];
  const values = (title: string, ...names: readonly MetricName[]): IWidget => {
    const left = names.map((name) => metric(account, name, { statistic: Stats.MAXIMUM, label: name }));
    return graph({ title: `${account}: ${title}`, left, width: THIRD });
  };
  return [
    [new TextWidget({ markdown: `## ${account}`, width: WIDTH, height: 1 })],
    [
      bars({ title: `${account}: outcomes`, left: outcomes, width: THIRD }),
      values("events", "Events"),
      values("added, changed, removed, left out", "Added", "Changed", "Removed", "LeftOut"),
    ],
    [
      values("duration in seconds", "DurationSeconds"),
      values("requests, percent of the budget", "BudgetShare"),
      values("throttled responses", "Throttled"),
    ],
  ];
}

function graph(props: GraphWidgetProps): IWidget {
  return new GraphWidget({ leftYAxis: { min: 0, showUnits: false }, height: 5, ...props });
}

function bars(props: GraphWidgetProps): IWidget {
  return graph({ view: GraphWidgetView.BAR, setPeriodToTimeRange: true, ...props });
}

function glanceRows(
  metric: AccountMetric,
  { byAccount, ofAll }: DeploymentAlarms,
  logGroup: ILogGroup,
): IWidget[][] {
  return [
    [new TextWidget({ markdown: "# At a glance", width: WIDTH, height: 1 })],
    [logTable(ACCOUNTS_NOW, logGroup, WIDTH / 2), logTable(LAST_SUCCESS, logGroup, WIDTH / 2)],
    ...byAccount.map(({ account, alarms, staleAfterHours }) => [
      // Held, failing, stale and more: each alarm has a colour.
      new AlarmStatusWidget({
        title: account,
        alarms: [...alarms],
        width: WIDTH - GAUGE_WIDTH,
        height: GLANCE_HEIGHT,
      }),
      ageOf(metric, account, staleAfterHours),
    ]),
    [new AlarmStatusWidget({ title: "all accounts", alarms: [...ofAll], width: WIDTH, height: 3 })],
  ];
}

function ageOf(metric: AccountMetric, account: string, staleAfterHours: number | undefined): IWidget {
  const hours = new MathExpression({
    // The instant of each hour with a publication, repeated until the next one, and how long before each hour it was.
    expression: "(EPOCH(FILL(published, 0)) - FILL(IF(published > 0, EPOCH(published)), REPEAT)) / 3600",
    usingMetrics: { published: metric(account, "Published", { period: Duration.hours(1) }) },
    label: "hours since the last publication",
    period: Duration.hours(1),
  });
  return new GaugeWidget({
    title: `${account}: hours since the last publication`,
    metrics: [hours],
    leftYAxis: { min: 0, max: Math.ceil((staleAfterHours ?? LONGEST_HOURS) * 1.5) },
    annotations:
      staleAfterHours === undefined
        ? []
        : [{ value: staleAfterHours, label: "stale", color: Color.RED, fill: Shading.ABOVE }],
    width: GAUGE_WIDTH,
    height: GLANCE_HEIGHT,
  });
}

function logTable({ title, commands }: LogQuery, logGroup: ILogGroup, width: number): IWidget {
  return new LogQueryWidget({
    title,
    logGroupNames: [logGroup.logGroupName],
    view: LogQueryVisualizationType.TABLE,
    queryLines: [...commands],
    width,
    height: 6,
  });
}

interface LogQuery {
  readonly title: string;
  /** A command each. */
  readonly commands: readonly string[];
}

/** The last line of an account says what it does: a line that is no end belongs to a run that is under way. */
export const ACCOUNTS_NOW: LogQuery = {
  title: "What each account did last",
  commands: [
    "filter ispresent(account) and ispresent(message)",
    "stats latest(@timestamp) as at, latest(message) as last_line, latest(run_id) as run by account",
    "sort account asc",
  ],
};

/** The metrics of each attempt are a line of the log, so the log shows the latest publication. */
export const LAST_SUCCESS: LogQuery = {
  title: "Last success of each account",
  commands: [
    "fields @timestamp as published_at, account, Events, Added, Changed, Removed",
    "filter Published = 1",
    "sort @timestamp desc",
    "dedup account",
  ],
};

export const LOG_QUERIES: readonly LogQuery[] = [
  ACCOUNTS_NOW,
  LAST_SUCCESS,
  {
    title: "How runs ended",
    commands: [
      "fields @timestamp, account, run_id, attempt, outcome, reason, seconds",
      "filter message like /^ended as /",
      "sort @timestamp desc",
      "limit 100",
    ],
  },
  {
    title: "Errors and warnings",
    commands: [
      "fields @timestamp, level, account, run_id, error_code, message",
      'filter level in ["ERROR", "WARN"]',
      "sort @timestamp desc",
      "limit 100",
    ],
  },
  {
    title: "One run from its first line to its last",
    commands: [
      "fields @timestamp, level, message",
      'filter run_id = "2026-11-21T06-00-00.000Z"', // to be replaced by the reader
      "sort @timestamp asc",
    ],
  },
  {
    title: "Requests, retries and throttling of each account",
    commands: [
      "filter message like /^ended as / and ispresent(requests)",
      "stats count(*) as attempts, sum(requests) as requests, sum(retries) as retries, sum(throttled) as throttled by account",
      "sort account asc",
    ],
  },
  {
    title: "Time and memory of invocations",
    commands: [
      'filter @type = "REPORT"',
      "stats count(*) as invocations, max(@duration / 1000) as longest_seconds, max(@maxMemoryUsed / 1000000) as most_megabytes, max(@memorySize / 1000000) as megabytes by bin(1d) as day",
      "sort day desc",
    ],
  },
];

/** The query as the console shows it: a command on each line. */
export function queryText({ commands }: LogQuery): string {
  return commands.join("\n| ");
}
