// Two deployments in one stack and in one app: no name of the one is a name of the other, and neither sees the other.

import { Stack } from "aws-cdk-lib";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { EventSync } from "../../lib/event-sync.ts";
import { newApp, type Resource, type Synthesized, statements, templateOf } from "./synthesized.ts";

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

const stack = new Stack(newApp(), "Platform");
new EventSync(stack, "Brands", { settings: SETTINGS });
new EventSync(stack, "Archive", { settings: SETTINGS });
const template = templateOf(stack);
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
