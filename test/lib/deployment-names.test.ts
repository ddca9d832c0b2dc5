// The names of a deployment, by its place in the app or by the setting `stackName`; of two deployments no name of the one is
// a name of the other, and neither sees the other.

import { App, NestedStack, Stack, Stage } from "aws-cdk-lib";
import { Construct } from "constructs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { eventSyncApp } from "../../lib/app.ts";
import { EventSync } from "../../lib/event-sync.ts";
import { deploymentNames } from "../../lib/settings.ts";
import {
  CONTEXT,
  newApp,
  type Resource,
  type Synthesized,
  statements,
  templateOf,
  WITHOUT_BUNDLE,
  WITHOUT_RULES,
} from "./synthesized.ts";

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

const SETTINGS = {
  baseUrl: "https://api.example.com",
  authUrl: "https://login.example.com",
  alarmEmail: "data-team@example.com",
  accounts: { uk: { schedule: "rate(1 day)" } },
  tags: { team: "data" },
};

/** Properties that name something else, or for people only. */
const OTHERS = ["DatabaseName", "DisplayName", "FunctionName", "GroupName", "MetricName"];
/** Their names are unique within something that has a name. */
const WITHIN = new Set(["AWS::Athena::NamedQuery", "AWS::Lambda::Alias", "AWS::Glue::Table"]);

/** CloudFormation takes no tags for them. */
const WITHOUT_TAGS = new Set(
  [
    ...[
      "S3::BucketPolicy",
      "SQS::QueuePolicy",
      "SNS::TopicPolicy",
      "SNS::Subscription",
      "Lambda::Permission",
    ],
    ...["Lambda::Version", "Lambda::Alias", "Lambda::EventInvokeConfig", "Logs::MetricFilter"],
    ...[
      "Logs::QueryDefinition",
      "Glue::Database",
      "Glue::Table",
      "Athena::NamedQuery",
      "Scheduler::Schedule",
    ],
    ...["IAM::ManagedPolicy", "IAM::Policy"],
  ].map((type) => `AWS::${type}`),
);

const listedTags = z.array(z.object({ Key: z.string(), Value: z.string() }));

const databaseInput = z.object({ DatabaseInput: z.object({ Name: z.string() }) });

function namesIn(template: Synthesized): readonly string[] {
  return [...template.types].flatMap((type) =>
    WITHIN.has(type) ? [] : template.all(type).flatMap((resource) => namesOf(type, resource)),
  );
}

function namesOf(type: string, { properties }: Resource): readonly string[] {
  if (type === "AWS::Glue::Database")
    return [`${type} ${databaseInput.parse(properties).DatabaseInput.Name}`];
  return Object.entries(properties)
    .filter(([key]) => key.endsWith("Name") && !OTHERS.includes(key))
    .map(([key, value]) => `${type} ${key} ${JSON.stringify(value)}`);
}

/** Some types have them as a list, some as an object. */
function tagsOf(tags: unknown): unknown {
  const listed = listedTags.safeParse(tags);
  return listed.success ? Object.fromEntries(listed.data.map(({ Key, Value }) => [Key, Value])) : tags;
}

const platform = new Stack(newApp(), "Platform");
new EventSync(platform, "Brands", { settings: SETTINGS });
new EventSync(platform, "Archive", { settings: SETTINGS });
const template = templateOf(platform);
const of = (id: string, type: string): readonly Resource[] =>
  template.all(type).filter(({ name }) => name.startsWith(id));

describe("two deployments in one stack", () => {
  it("have no name in common", () => {
    const names = namesIn(template);

    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it("are named after the stack and themselves", () => {
    const named = (type: string, key: string) => template.all(type).map(({ properties }) => properties[key]);

    expect(named("AWS::Athena::WorkGroup", "Name")).toEqual(["Platform_Brands", "Platform_Archive"]);
    expect(named("AWS::CloudWatch::Dashboard", "DashboardName")).toEqual([
      "Platform_Brands",
      "Platform_Archive",
    ]);
    expect(template.all("AWS::Glue::Database").map((each) => databaseInput.parse(each.properties))).toEqual([
      { DatabaseInput: { Name: "platform_brands" } },
      { DatabaseInput: { Name: "platform_archive" } },
    ]);
  });

  it("have outputs of their own, whose names begin with their ids", () => {
    const names = [...template.outputs.keys()];

    expect(names).toContain("BrandsFunctionName");
    expect(names).toContain("ArchiveFunctionName");
    expect(names).toContain("BrandsStep2Checkuk");
    expect(names.filter((name) => !/^(?:Brands|Archive)/.test(name))).toEqual([]);
  });

  it("have a tag with their name, and the tags of the settings, on everything that takes tags", () => {
    const brands = [...template.types]
      .filter((type) => !WITHOUT_TAGS.has(type))
      .flatMap((type) => of("Brands", type));

    expect(brands.length).toBeGreaterThan(20);
    for (const { properties } of brands) {
      expect(tagsOf(properties["Tags"])).toEqual({ "brand-events-sync": "Platform_Brands", team: "data" });
    }
  });

  it("have metrics of their own, for accounts of one name too", () => {
    const namespaces = (id: string) =>
      new Set(
        of(id, "AWS::CloudWatch::Alarm").flatMap(({ properties }) =>
          "Dimensions" in properties && JSON.stringify(properties["Dimensions"]).includes('"account"')
            ? [properties["Namespace"]]
            : [],
        ),
      );
    const [environment] = of("Brands", "AWS::Lambda::Function").map(
      ({ properties }) => properties["Environment"],
    );

    expect(namespaces("Brands")).toEqual(new Set(["BrandEventsSync/Platform_Brands"]));
    expect(namespaces("Archive")).toEqual(new Set(["BrandEventsSync/Platform_Archive"]));
    expect(environment).toMatchObject({
      Variables: { BRAND_EVENTS_METRIC_NAMESPACE: "BrandEventsSync/Platform_Brands" },
    });
  });

  it.each([
    ["Brands", "Archive"],
    ["Archive", "Brands"],
  ])("%s may do nothing with what %s has", (id, other) => {
    const granted = of(id, "AWS::IAM::Policy").flatMap((policy) => statements(policy));
    const resources = granted.flatMap(({ Resource }) => Resource);

    expect(resources.length).toBeGreaterThan(20);
    expect(resources.filter((resource) => resource.toLowerCase().includes(other.toLowerCase()))).toEqual([]);
  });
});

describe("two deployments in one app", () => {
  const inStacks = (database: string, ...regions: readonly (string | undefined)[]): (() => void) => {
    const app = newApp();
    return () => {
      for (const [n, region] of regions.entries()) {
        const env = region === undefined ? {} : { env: { account: "123456789012", region } };
        new EventSync(new Stack(app, `Stack${n}`, env), "Default", { settings: { ...SETTINGS, database } });
      }
    };
  };

  it("with one database in one region are refused, with the remedy", () => {
    expect(inStacks("lake", "eu-west-1", "eu-west-1")).toThrow(
      /^settings\.database: Stack0\/Default and Stack1\/Default both have the database lake, .* Give one of them another name, or leave it out/,
    );
  });

  it("with one database in one stack are refused", () => {
    const one = new Stack(newApp(), "Stack");
    new EventSync(one, "Brands", { settings: { ...SETTINGS, database: "lake" } });

    expect(() => new EventSync(one, "Archive", { settings: { ...SETTINGS, database: "lake" } })).toThrow(
      "Stack/Brands and Stack/Archive both have the database lake",
    );
  });

  it.each([
    ["in two regions", inStacks("lake", "eu-west-1", "us-east-1")],
    ["in regions that are not known yet", inStacks("lake", undefined, undefined)],
  ])("with one database %s are taken", (_, make) => {
    expect(make).not.toThrow();
  });
});
