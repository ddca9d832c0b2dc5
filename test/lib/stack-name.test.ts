// The setting `stackName`: everything in the stack that has a name of its own is named after it.

import { expect, it } from "vitest";
import { eventSyncApp } from "../../lib/app.ts";
import { CONTEXT, templateOf, WITHOUT_BUNDLE, WITHOUT_RULES } from "./synthesized.ts";

it.each([
  ["SecondStack", { stackName: "SecondStack" }],
  ["BrandEventsSync", {}],
])("the names of the resources begin with %s for the settings %j", (name, over) => {
  const eventSync = {
    baseUrl: "https://api.example.com",
    accounts: { uk: { schedule: "rate(1 day)" } },
    ...over,
  };

  const { stack } = eventSyncApp({
    ...WITHOUT_RULES,
    context: { ...CONTEXT, ...WITHOUT_BUNDLE, eventSync },
  });

  const template = templateOf(stack);
  const named = (type: string, key: string): unknown => template.all(type)[0]?.properties[key];
  expect({
    stack: stack.stackName,
    workgroup: named("AWS::Athena::WorkGroup", "Name"),
    scheduleGroup: named("AWS::Scheduler::ScheduleGroup", "Name"),
    dashboard: named("AWS::CloudWatch::Dashboard", "DashboardName"),
    alarm: named("AWS::CloudWatch::Alarm", "AlarmName"),
    secret: named("AWS::SecretsManager::Secret", "Name"),
  }).toEqual({
    stack: name,
    workgroup: name,
    scheduleGroup: name,
    dashboard: name,
    alarm: `${name}-uk-failed`,
    secret: expect.stringContaining(`${name}/uk-`),
  });
});
