// The setting `stackName`: everything in the stack that has a name of its own is named after it.

import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { eventSyncApp } from "../../lib/app.ts";
import { CONTEXT, WITHOUT_BUNDLE, WITHOUT_RULES } from "./synthesized.ts";

const namesWith = (stackName?: string): Readonly<Record<string, unknown>> => {
  const eventSync = {
    baseUrl: "https://api.example.com",
    accounts: { uk: { schedule: "rate(1 day)" } },
    ...(stackName === undefined ? {} : { stackName }),
  };
  const { stack } = eventSyncApp({
    ...WITHOUT_RULES,
    context: { ...CONTEXT, ...WITHOUT_BUNDLE, eventSync },
  });
  const template = Template.fromStack(stack);
  const named = (type: string, key: string): unknown => {
    const [resource] = Object.values(template.findResources(type));
    return resource?.["Properties"][key];
  };
  return {
    stack: stack.stackName,
    workgroup: named("AWS::Athena::WorkGroup", "Name"),
    scheduleGroup: named("AWS::Scheduler::ScheduleGroup", "Name"),
    dashboard: named("AWS::CloudWatch::Dashboard", "DashboardName"),
    alarm: named("AWS::CloudWatch::Alarm", "AlarmName"),
    secret: named("AWS::SecretsManager::Secret", "Name"),
  };
};
const secretIn = (stackName: string): object => {
  const uuid = { "Fn::Select": [2, { "Fn::Split": ["/", { Ref: "AWS::StackId" }] }] };
  return { "Fn::Join": ["", [`${stackName}/uk-`, uuid]] };
};

describe("the names of the stack's resources", () => {
  it("begin with the name of the stack", () => {
    expect(namesWith("SecondStack")).toEqual({
      stack: "SecondStack",
      workgroup: "SecondStack",
      scheduleGroup: "SecondStack",
      dashboard: "SecondStack",
      alarm: "SecondStack-uk-failed",
      secret: secretIn("SecondStack"),
    });
  });

  it("begin with BrandEventsSync by default", () => {
    expect(namesWith()).toEqual({
      stack: "BrandEventsSync",
      workgroup: "BrandEventsSync",
      scheduleGroup: "BrandEventsSync",
      dashboard: "BrandEventsSync",
      alarm: "BrandEventsSync-uk-failed",
      secret: secretIn("BrandEventsSync"),
    });
  });
});
