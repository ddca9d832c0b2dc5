// Writes metrics into the log in CloudWatch's embedded metric format (EMF).

import { Metrics } from "@aws-lambda-powertools/metrics";
import { METRIC_DIMENSION, METRICS, type MetricValues } from "./metrics.ts";

export type EmitMetrics = (account: string, values: MetricValues) => void;

/** One log line for each call, with the account as its only dimension; none without values. */
export function cloudWatchMetrics(namespace: string): EmitMetrics {
  const metrics = new Metrics({ namespace });
  metrics.clearDefaultDimensions(); // "service", which alarms would have to name as well
  return (account, values) => {
    const given = entriesOf(METRICS).flatMap(([name, unit]) => {
      const value = values[name];
      return value === undefined ? [] : [{ name, unit, value }];
    });
    if (given.length === 0) return;
    metrics.addDimension(METRIC_DIMENSION, account);
    for (const { name, unit, value } of given) metrics.addMetric(name, unit, value);
    metrics.publishStoredMetrics();
  };
}

function entriesOf<Key extends string, Value>(
  object: Readonly<Record<Key, Value>>,
): readonly (readonly [Key, Value])[] {
  const keys: Key[] = [];
  for (const key in object) keys.push(key);
  return keys.map((key) => [key, object[key]] as const);
}
