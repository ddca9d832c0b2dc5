// The dashboard: every account at a glance, the executions, and what each account's runs did; and the queries of
// CloudWatch Logs Insights that are saved with the stack, two of them on the dashboard.

import { Duration } from "aws-cdk-lib";
import {
  type Alarm,
  AlarmStatusWidget,
  Color,
  Dashboard,
  GaugeWidget,
  GraphWidget,
  GraphWidgetView,
  type HorizontalAnnotation,
  type IMetric,
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
import type { MetricName } from "../../lambdas/sync/telemetry/metrics.ts";
import { type AccountMetric, type ExecutionMetric, executionMetric } from "./metrics.ts";

const WIDTH = 24;
const THIRD = WIDTH / 3;
const GAUGE_WIDTH = 6;
const GLANCE_HEIGHT = 4;
/** Where an account has no limit for its age. */
const LONGEST_HOURS = 48;

export interface AccountGlance {
  readonly account: string;
  readonly alarms: readonly Alarm[];
  /** After so many hours without a publication its data are stale; undefined where no alarm says so. */
  readonly staleAfterHours: number | undefined;
}

interface GlanceProps {
  readonly accounts: readonly AccountGlance[];
  /** The alarms of all accounts together. */
  readonly alarmsOfAll: readonly Alarm[];
  readonly metric: AccountMetric;
  readonly logGroup: ILogGroup;
}

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

function glanceRows({ accounts, alarmsOfAll, metric, logGroup }: GlanceProps): IWidget[][] {
  return [
    [new TextWidget({ markdown: "# At a glance", width: WIDTH, height: 1 })],
    [logTable(ACCOUNTS_NOW, logGroup, WIDTH / 2), logTable(LAST_SUCCESS, logGroup, WIDTH / 2)],
    ...accounts.map((account) => [alarmsOf(account), ageOf(account, metric)]),
    [new AlarmStatusWidget({ title: "all accounts", alarms: [...alarmsOfAll], width: WIDTH, height: 3 })],
  ];
}

/** Held, failing, stale and more: each alarm has a colour. */
function alarmsOf({ account, alarms }: AccountGlance): IWidget {
  return new AlarmStatusWidget({
    title: account,
    alarms: [...alarms],
    width: WIDTH - GAUGE_WIDTH,
    height: GLANCE_HEIGHT,
  });
}

function ageOf({ account, staleAfterHours }: AccountGlance, metric: AccountMetric): IWidget {
  const hours = new MathExpression({
    // The instant of each hour with a publication, repeated until the next one, and how long before each hour it was.
    expression: "(EPOCH(FILL(published, 0)) - FILL(IF(published > 0, EPOCH(published)), REPEAT)) / 3600",
    usingMetrics: { published: metric(account, "Published", { period: Duration.hours(1) }) },
    label: "hours since the last publication",
    period: Duration.hours(1),
  });
  const limit = staleAfterHours ?? LONGEST_HOURS;
  const annotations: HorizontalAnnotation[] =
    staleAfterHours === undefined
      ? []
      : [{ value: staleAfterHours, label: "stale", color: Color.RED, fill: Shading.ABOVE }];
  return new GaugeWidget({
    title: `${account}: hours since the last publication`,
    metrics: [hours],
    leftYAxis: { min: 0, max: Math.ceil(limit * 1.5) },
    annotations,
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

/** Its last line says what an account does: a line that is no end belongs to a run that is under way. */
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
      "filter ispresent(Requests)",
      "stats count(*) as attempts, sum(Requests) as requests, sum(Retries) as retries, sum(Throttled) as throttled, max(BudgetShare) as budget_percent by account",
      "sort account asc",
    ],
  },
  {
    title: "Fields that changed",
    commands: [
      "fields @timestamp, account, run_id, message",
      "filter message like /^(new fields|fields that are gone|fields that changed their type): /",
      "sort @timestamp desc",
      "limit 100",
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

/** As the console shows it: a command on each line. */
export function queryText({ commands }: LogQuery): string {
  return commands.join("\n| ");
}

/** The saved queries of CloudWatch Logs Insights, in a folder with the name of the deployment. */
export class SavedLogQueries extends Construct {
  /** @param name of the deployment */
  constructor(scope: Construct, id: string, name: string, logGroup: ILogGroup) {
    super(scope, id);
    for (const query of LOG_QUERIES) {
      new CfnQueryDefinition(this, query.title.replaceAll(/[^A-Za-z]/g, ""), {
        name: `${name}/${query.title}`,
        queryString: queryText(query),
        logGroupNames: [logGroup.logGroupName],
      });
    }
  }
}
