// The first rows of the dashboard: which account is stale, held, failing or running, at a glance.

import { Duration } from "aws-cdk-lib";
import {
  type Alarm,
  AlarmStatusWidget,
  Color,
  GaugeWidget,
  type HorizontalAnnotation,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  Shading,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import { ACCOUNTS_NOW, LAST_SUCCESS, type LogQuery } from "./log-queries.ts";
import type { AccountMetric } from "./metrics.ts";

const WIDTH = 24;
const GAUGE_WIDTH = 6;
const HEIGHT = 4;
/** Where an account has no limit for its age. */
const LONGEST_HOURS = 48;

export interface AccountGlance {
  readonly account: string;
  readonly alarms: readonly Alarm[];
  /** After so many hours without a publication its data are stale; undefined where no alarm says so. */
  readonly staleAfterHours: number | undefined;
}

export interface GlanceProps {
  readonly accounts: readonly AccountGlance[];
  /** The alarms of all accounts together. */
  readonly alarmsOfAll: readonly Alarm[];
  readonly metric: AccountMetric;
  readonly logGroup: ILogGroup;
}

export function glanceRows({ accounts, alarmsOfAll, metric, logGroup }: GlanceProps): IWidget[][] {
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
    height: HEIGHT,
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
    height: HEIGHT,
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
