// The metrics that alarms and dashboard show, as CloudWatch names them. By default sums over five minutes.

import { Duration } from "aws-cdk-lib";
import { Metric, type MetricProps, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { METRIC_DIMENSION, type MetricName } from "../../lambdas/sync/telemetry.ts";

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
