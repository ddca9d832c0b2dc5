// One schedule per account, in the account's own time zone. The instant of the schedule names the run.

import { Duration, Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSchedule, CfnScheduleGroup, type IScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Settings } from "../settings.ts";

interface SchedulesProps {
  /** The name of the deployment. */
  readonly name: string;
  /** The group of the schedules, if the app brings one. */
  readonly group: IScheduleGroup | undefined;
  readonly target: IFunction;
  readonly failureQueue: IQueue;
  readonly accounts: Settings["accounts"];
}

export function addSchedules(
  parent: Construct,
  { name, group, target, failureQueue, accounts }: SchedulesProps,
): void {
  const scope = new Construct(parent, "Schedules");
  const { scheduleGroupName, scheduleGroupArn } = group ?? newGroup(scope, name);
  /** May start the function's alias and report failed starts; for the schedules of this group only. */
  const role = new Role(scope, "Role", {
    description: "Allows the schedules to start the function",
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: {
        StringEquals: { "aws:SourceAccount": Stack.of(scope).account, "aws:SourceArn": scheduleGroupArn },
      },
    }),
  });
  role.addToPolicy(
    new PolicyStatement({
      sid: "Start",
      actions: ["lambda:InvokeFunction"],
      resources: [target.functionArn],
    }),
  );
  role.addToPolicy(
    new PolicyStatement({
      sid: "ReportFailures",
      actions: ["sqs:SendMessage"],
      resources: [failureQueue.queueArn],
    }),
  );
  for (const [account, { schedule, timeZone, enabled }] of Object.entries(accounts)) {
    new CfnSchedule(scope, account, {
      description: `Starts the runs of the account ${account}`,
      groupName: scheduleGroupName,
      scheduleExpression: schedule,
      scheduleExpressionTimezone: timeZone,
      state: enabled ? "ENABLED" : "DISABLED",
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: target.functionArn,
        roleArn: role.roleArn,
        input: JSON.stringify({ account, scheduledAt: "<aws.scheduler.scheduled-time>" }),
        retryPolicy: { maximumEventAgeInSeconds: Duration.hours(1).toSeconds() },
        deadLetterConfig: { arn: failureQueue.queueArn },
      },
    });
  }
}

function newGroup(
  scope: Construct,
  name: string,
): Pick<IScheduleGroup, "scheduleGroupName" | "scheduleGroupArn"> {
  const group = new CfnScheduleGroup(scope, "Group", { name });
  return { scheduleGroupName: group.ref, scheduleGroupArn: group.attrArn };
}
