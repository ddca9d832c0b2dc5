// The metrics that alarms and dashboard show, as CloudWatch names them.

import { Duration } from "aws-cdk-lib";
import { Metric, type MetricProps, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { METRIC_DIMENSION, type MetricName } from "../../lambdas/sync/telemetry/metrics.ts";

/** What the engine counts for a state machine. */
export type ExecutionMetric =
  | "ExecutionsStarted"
  | "ExecutionsRedriven"
  | "ExecutionsSucceeded"
  | "ExecutionsFailed"
  | "ExecutionsTimedOut"
  | "ExecutionsAborted";

export type AccountMetric = (
  account: string,
  metricName: MetricName,
  options?: Pick<MetricProps, "statistic" | "period" | "label" | "color">,
) => Metric;

/**
 * The metrics that the function of a deployment writes for each attempt. By default the sum over five minutes. Attempts
 * of one account never overlap.
 */
export function accountMetricIn(namespace: string): AccountMetric {
  return (account, metricName, options = {}) =>
    new Metric({
      namespace,
      metricName,
      dimensionsMap: { [METRIC_DIMENSION]: account },
      statistic: Stats.SUM,
      period: Duration.minutes(5),
      ...options,
    });
}

/** The engine counts these for all accounts together. By default the sum over five minutes. */
export function executionMetric(
  stateMachineArn: string,
  metricName: ExecutionMetric,
  options: Pick<MetricProps, "period" | "label" | "color"> = {},
): Metric {
  return new Metric({
    namespace: "AWS/States",
    metricName,
    dimensionsMap: { StateMachineArn: stateMachineArn },
    statistic: Stats.SUM,
    period: Duration.minutes(5),
    ...options,
  });
}
