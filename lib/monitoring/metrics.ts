// The metrics that the function writes for each attempt, as CloudWatch names them.

import { Duration } from "aws-cdk-lib";
import { Metric, type MetricProps, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { METRIC_DIMENSION, METRIC_NAMESPACE, type MetricName } from "../../lambdas/sync/telemetry/metrics.ts";

/** By default the sum over five minutes. Attempts of one account never overlap. */
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
