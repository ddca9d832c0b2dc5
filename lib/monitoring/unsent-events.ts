// How many events about runs did not reach the event bus, of all accounts together: each may have been a mail.

import { Duration } from "aws-cdk-lib";
import { type IMetric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { MetricName } from "../../lambdas/sync/telemetry/metrics.ts";

/** As the function writes it, for one account. */
const EVENT_NOT_SENT: MetricName = "EventNotSent";

export class UnsentEvents extends Construct {
  /** Per hour. Without data where every event was sent. */
  readonly metric: IMetric;

  /** @param namespace of the function's metrics */
  constructor(scope: Construct, id: string, namespace: string, logGroup: ILogGroup) {
    super(scope, id);
    // An alarm cannot add up the metrics of accounts that it does not name, and takes ten at most.
    const filter = new MetricFilter(this, "Filter", {
      logGroup,
      filterPattern: FilterPattern.numberValue(`$.${EVENT_NOT_SENT}`, "=", 1),
      metricNamespace: namespace,
      metricName: "EventsNotSent",
      metricValue: "1",
    });
    this.metric = filter.metric({ statistic: Stats.SUM, period: Duration.hours(1) });
  }
}
