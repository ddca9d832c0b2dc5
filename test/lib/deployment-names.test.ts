// The names of a deployment, by its place in the app; in the app of the project, by the setting `stackName`.

import { App, NestedStack, Stack, Stage } from "aws-cdk-lib";
import { Construct } from "constructs";
import { describe, expect, it } from "vitest";
import { eventSyncApp } from "../../lib/app.ts";
import { deploymentNames } from "../../lib/settings.ts";
import { CONTEXT, templateOf, WITHOUT_BUNDLE, WITHOUT_RULES } from "./synthesized.ts";

const stack = (name: string): Stack => new Stack(new App(), name);
/** A construct at the end of a path of ids. */
const below = (scope: Construct, ...ids: readonly string[]): Construct =>
  ids.reduce((parent, id) => new Construct(parent, id), scope);

describe("the names of a deployment", () => {
  it("are those of its stack, if it is the stack's Default", () => {
    expect(deploymentNames(below(stack("Platform"), "Default"))).toEqual({
      name: "Platform",
      database: "brand_events",
      metricNamespace: "BrandEventsSync",
      outputPrefix: "",
    });
  });

  it("have its own id besides, if it has one", () => {
    expect(deploymentNames(below(stack("DataPlatform"), "Events"))).toEqual({
      name: "DataPlatform_Events",
      database: "data_platform_events",
      metricNamespace: "BrandEventsSync/DataPlatform_Events",
      outputPrefix: "Events",
    });
  });

  it.each([
    ["a stage", below(new Stack(new Stage(new App(), "Prod"), "Data"), "Events"), "Prod-Data_Events"],
    ["a nested stack", below(new NestedStack(stack("Data"), "Nested"), "Events"), "Data_Nested_Events"],
    ["another construct", below(stack("Data"), "Brands", "Events"), "Data_Brands_Events"],
    ["another construct, as its Default", below(stack("Data"), "Brands", "Default"), "Data_Brands"],
    ["a stack with a hyphen", below(stack("Data-Eu"), "Events"), "Data-Eu_Events"],
  ])("in %s have the whole path: %#", (_, construct, name) => {
    expect(deploymentNames(construct).name).toBe(name);
  });

  it.each([
    ["an underscore", ["a_b"], ["a", "b"]],
    ["a space", ["a b"], ["ab"]],
    ["another letter", ["é"], ["è"]],
    ["too many characters", ["x".repeat(80)], ["x".repeat(81)]],
  ])("differ for ids with %s, and have at most 64 characters", (_, ids, others) => {
    const [one, other] = [ids, others].map((path) => deploymentNames(below(stack("Data"), ...path)));

    expect(one?.name).toMatch(/^Data_[\w-]{1,59}$/);
    expect(other?.name).toMatch(/^Data_[\w-]{1,59}$/);
    expect(one?.name).not.toBe(other?.name);
    expect(one?.database).toMatch(/^data_[a-z0-9_]{1,59}$/);
    expect(one?.database).not.toBe(other?.database);
  });

  it("need a stack", () => {
    expect(() => deploymentNames(below(new App(), "Events"))).toThrow(
      "EventSync Events: expected a place in a stack, and got one outside of all stacks",
    );
  });
});

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
