// docs/cdk.md shows what a bucket, a key and a topic need that the app cannot change: the same that the stack sets.

import { readFileSync } from "node:fs";
import { Stack } from "aws-cdk-lib";
import { Construct } from "constructs";
import { expect, test } from "vitest";
import { z } from "zod";
import { deploymentNames } from "../../lib/settings.ts";
import packageJson from "../../package.json" with { type: "json" };
import { sectionOf, tableBelow, unquoted } from "../docs/markdown.ts";
import { newApp, statements, synthesized } from "./synthesized.ts";

const PAGE = "cdk.md";
const template = synthesized();

const policySchema = z.object({ Statement: z.array(z.looseObject({ Sid: z.string().optional() })) });
const lifecycleSchema = z.object({
  Rules: z.array(
    z.looseObject({
      ID: z.string(),
      Filter: z.object({ Prefix: z.string().optional() }),
      Expiration: z
        .object({ Days: z.number().optional(), ExpiredObjectDeleteMarker: z.boolean().optional() })
        .optional(),
    }),
  ),
});

const blocks = (heading: string): readonly unknown[] =>
  [...sectionOf(PAGE, heading).matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = ""]) =>
    JSON.parse(text),
  );
/** As the template says it, with names for references. */
const named = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(`<${template.only("AWS::S3::Bucket").name}.Arn>`, "arn:aws:s3:::<bucket>")
      .replaceAll(`<${template.only("AWS::SNS::Topic").name}>`, "<ARN of the topic>")
      .replaceAll("<AWS::Partition>", "aws")
      .replaceAll("<AWS::Region>", "<region>")
      .replaceAll("<AWS::AccountId>", "<account>"),
  );
const documentOf = (type: string, key: string) =>
  policySchema.parse(named(template.only(type).properties[key])).Statement;

test("the bucket's policy, which requires TLS and refuses to overwrite published files, is that of the stack's bucket", () => {
  const [, policy] = blocks("## A bucket that exists");

  expect(policySchema.parse(policy).Statement).toEqual(documentOf("AWS::S3::BucketPolicy", "PolicyDocument"));
  expect(
    statements({ ...template.only("AWS::S3::BucketPolicy"), properties: { policy } }, "policy"),
  ).toHaveLength(2);
});

test("the lifecycle rules, of old versions, incomplete uploads, staging, run log and query results, are those of the stack's bucket", () => {
  const [lifecycle] = blocks("## A bucket that exists");

  // CloudFormation has other names for the same.
  const rules = lifecycleSchema.parse(lifecycle).Rules.map(({ ID, Filter, Expiration = {}, ...rule }) => ({
    Id: ID,
    ...(Filter.Prefix === undefined ? {} : { Prefix: Filter.Prefix }),
    ...(Expiration.Days === undefined ? {} : { ExpirationInDays: Expiration.Days }),
    ...(Expiration.ExpiredObjectDeleteMarker === undefined
      ? {}
      : { ExpiredObjectDeleteMarker: Expiration.ExpiredObjectDeleteMarker }),
    ...rule,
  }));
  expect({ Rules: rules }).toEqual(template.only("AWS::S3::Bucket").properties["LifecycleConfiguration"]);
});

test.each([
  ["## A key of your own", "AWS::KMS::Key", "KeyPolicy"],
  ["## A topic of your own", "AWS::SNS::TopicPolicy", "PolicyDocument"],
])("the statements below %s are those of the stack", (heading, type, key) => {
  const ofStack = documentOf(type, key);

  const shown = blocks(heading);
  expect(shown).not.toEqual([]);
  for (const statement of shown) expect(ofStack).toContainEqual(expect.objectContaining(Object(statement)));
});

test("the versions of the CDK are those that the package asks for", () => {
  const [, library, constructs] =
    /`aws-cdk-lib` (\S+) or newer, and with `constructs` (\d+)/.exec(
      sectionOf(PAGE, "# In a CDK app of your own"),
    ) ?? [];

  expect(packageJson.peerDependencies).toEqual({
    "aws-cdk-lib": `^${library}.0`,
    constructs: `^${constructs}.0.0`,
  });
});

test("the list of props has each prop with its type, in the order of the source", () => {
  const source = readFileSync(new URL("../../lib/event-sync.ts", import.meta.url), "utf8");
  const [declared = ""] = /^export interface EventSyncProps \{$[^}]+^\}$/m.exec(source) ?? [];
  const props = [...declared.matchAll(/^ {2}readonly (\w+)\??: (.+);$/gm)].map(([, name, type = ""]) => [
    name,
    type.replace(" | ", " or "),
  ]);

  const shown = [...sectionOf(PAGE, "## Props").matchAll(/^- `(\w+)` \((.*?)\): /gm)].map(
    ([, name, type = ""]) => [name, type.replaceAll("`", "")],
  );
  expect(shown).toEqual(props);
});

test("the table of names has the names", () => {
  const [, own, ofDefault] = [0, 1, 2].map((at) =>
    tableBelow(PAGE, "## Names").rows.map((row) => unquoted(row[at])),
  );
  const namesOf = (id: string): readonly string[] => {
    const { name, database, metricNamespace, outputPrefix } = deploymentNames(
      new Construct(new Stack(newApp(), "Platform"), id),
    );
    return [name, database, metricNamespace, `${outputPrefix}FunctionName`];
  };

  expect(own).toEqual(namesOf("Events"));
  expect(ofDefault).toEqual(namesOf("Default"));
});

test("the endpoints that the function needs without NAT are those of the services that it calls", () => {
  const [, free = "", paid = ""] =
    /calls: (`\w+`), as above, and as interfaces with private DNS (.*?), each/.exec(
      sectionOf(PAGE, "## A fixed outgoing address"),
    ) ?? [];
  const named = [...`${free} ${paid}`.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const called = template
    .all("AWS::IAM::Policy")
    .filter(({ name }) => name.startsWith("FunctionRole"))
    .flatMap((policy) => statements(policy))
    .flatMap(({ Action }) => Action.map((action) => action.split(":")[0]));

  // Lambda itself writes the log, and sends what fails to the queue.
  expect(new Set([...named, "logs", "sqs"])).toEqual(new Set(called));
});

test("a warning names a section that there is", () => {
  const sources = ["data/storage.ts", "monitoring/mails.ts"].map((path) =>
    readFileSync(new URL(`../../lib/${path}`, import.meta.url), "utf8"),
  );

  const named = sources.flatMap((text) =>
    [...text.matchAll(/docs\/cdk\.md, "([^"]+)"/g)].map(([, title = ""]) => title),
  );
  expect(named.length).toBeGreaterThan(2);
  for (const title of named) expect(sectionOf(PAGE, `## ${title}`)).not.toBe("");
});
