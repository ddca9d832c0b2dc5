// When an alarm is raised, and what no data mean for it.

import { Duration } from "aws-cdk-lib";
import {
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { executionMetric } from "./metrics.ts";

export type AlarmCondition = Omit<AlarmProps, "alarmName" | "alarmDescription">;

/** How long an alarm stays whose metric does not say that its cause is over. */
export const STAYS_HOURS = 24;

/** Without data the alarm keeps its state: nothing has shown that its cause is over. */
export function above(threshold: number, metric: IMetric): AlarmCondition {
  return {
    metric,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    threshold,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.IGNORE,
  };
}

/** An hour without a run has no data, and a function that never starts has none at all: that is the cause itself. */
export function unpublishedFor(hours: number, metric: IMetric): AlarmCondition {
  return {
    metric,
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    threshold: 1,
    evaluationPeriods: hours,
    treatMissingData: TreatMissingData.BREACHING,
  };
}

export const STAYS = {
  evaluationPeriods: STAYS_HOURS,
  datapointsToAlarm: 1,
  treatMissingData: TreatMissingData.NOT_BREACHING,
} as const;

/** Independent of the function: also where no event about the execution arrives, or the function cannot start. */
export function unsuccessfulExecutions(stateMachineArn: string): AlarmCondition {
  const period = Duration.hours(1);
  const metric = new MathExpression({
    // A metric without data in an hour would leave the sum without a value.
    expression: "FILL(failed, 0) + FILL(timedOut, 0) + FILL(aborted, 0)",
    usingMetrics: {
      failed: executionMetric(stateMachineArn, "ExecutionsFailed", { period }),
      timedOut: executionMetric(stateMachineArn, "ExecutionsTimedOut", { period }),
      aborted: executionMetric(stateMachineArn, "ExecutionsAborted", { period }),
    },
    label: "Executions that did not succeed",
    period,
  });
  return {
    metric,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    threshold: 0,
    ...STAYS,
  };
}
