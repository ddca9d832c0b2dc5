// The metrics that alarms and dashboard show, as CloudWatch names them.

import { Duration } from "aws-cdk-lib";
import { Metric, type MetricProps, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { METRIC_DIMENSION, METRIC_NAMESPACE, type MetricName } from "../../lambdas/sync/telemetry/metrics.ts";

/** What the engine counts for a state machine. */
export type ExecutionMetric =
  | "ExecutionsStarted"
  | "ExecutionsRedriven"
  | "ExecutionsSucceeded"
  | "ExecutionsFailed"
  | "ExecutionsTimedOut"
  | "ExecutionsAborted";

/** The function writes these for each attempt. By default the sum over five minutes. Attempts of one account never overlap. */
export function accountMetric(
  account: string,
  metricName: MetricName,
  options: Pick<MetricProps, "statistic" | "period" | "label" | "color"> = {},
): Metric {
  return new Metric({
    namespace: METRIC_NAMESPACE,
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
