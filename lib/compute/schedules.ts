// One schedule per account, in the account's own time zone. The instant of the schedule names the run.

import { Duration, Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSchedule, CfnScheduleGroup, type IScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";
import type { DeployedAccount } from "../settings/settings.ts";
import type { FailureQueue } from "./failure-queue.ts";

interface SchedulesProps {
  /** Of the deployment. */
  readonly name: string;
  /** The group of the schedules, if the app brings one. */
  readonly group: IScheduleGroup | undefined;
  readonly target: IFunction;
  readonly failureQueue: FailureQueue;
  readonly accounts: Readonly<Record<string, DeployedAccount>>;
}

export class Schedules extends Construct {
  constructor(scope: Construct, id: string, props: SchedulesProps) {
    super(scope, id);
    const group = props.group ?? newGroup(this, props.name);
    const role = schedulerRole(this, group, props);
    for (const [account, { schedule, timeZone, enabled }] of Object.entries(props.accounts)) {
      new CfnSchedule(this, account, {
        description: `Starts the runs of the account ${account}`,
        groupName: group.scheduleGroupName,
        scheduleExpression: schedule,
        scheduleExpressionTimezone: timeZone,
        state: enabled ? "ENABLED" : "DISABLED",
        flexibleTimeWindow: { mode: "OFF" },
        target: {
          arn: props.target.functionArn,
          roleArn: role.roleArn,
          input: JSON.stringify({ account, scheduledAt: "<aws.scheduler.scheduled-time>" }),
          retryPolicy: { maximumEventAgeInSeconds: Duration.hours(1).toSeconds() },
          deadLetterConfig: { arn: props.failureQueue.queue.queueArn },
        },
      });
    }
  }
}

type GroupOfSchedules = Pick<IScheduleGroup, "scheduleGroupName" | "scheduleGroupArn">;

function newGroup(scope: Construct, name: string): GroupOfSchedules {
  const group = new CfnScheduleGroup(scope, "Group", { name });
  return { scheduleGroupName: group.ref, scheduleGroupArn: group.attrArn };
}

/** May start the function's alias and report failed starts; for the schedules of this group only. */
function schedulerRole(scope: Construct, group: GroupOfSchedules, props: SchedulesProps): Role {
  const role = new Role(scope, "Role", {
    description: "Allows the schedules to start the function",
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: {
        StringEquals: {
          "aws:SourceAccount": Stack.of(scope).account,
          "aws:SourceArn": group.scheduleGroupArn,
        },
      },
    }),
  });
  role.addToPolicy(
    new PolicyStatement({
      sid: "Start",
      actions: ["lambda:InvokeFunction"],
      resources: [props.target.functionArn],
    }),
  );
  props.failureQueue.grantTo(role);
  return role;
}
