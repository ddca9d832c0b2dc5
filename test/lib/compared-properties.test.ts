// What a change of the template must not change unnoticed: the logical ids, and what the acceptance holds against it.

import { Stack } from "aws-cdk-lib";
import { SecurityGroup, Vpc } from "aws-cdk-lib/aws-ec2";
import { ManagedPolicy } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { expect, it, test } from "vitest";
import { z } from "zod";
import { EventSync } from "../../lib/event-sync.ts";
import { KIND_OF } from "../acceptance/as-stated.ts";
import { CONTEXT, json, newApp, type Synthesized, synthesized, templateOf } from "./synthesized.ts";

/**
 * What only some apps and settings have, and the deployment of acceptance.aws.test.ts has not: described.test.ts compares it.
 * All else is compared there, each property with another value.
 */
const IN_SOME = {
  "AWS::IAM::Role": ["PermissionsBoundary"],
  "AWS::Lambda::Function": ["ReservedConcurrentExecutions", "VpcConfig"],
  "AWS::SecretsManager::Secret": ["KmsKeyId"],
};

const propertiesOf = ({ all, types }: Synthesized, type: string): ReadonlySet<string> =>
  new Set(types.has(type) ? all(type).flatMap(({ properties }) => Object.keys(properties)) : []);

test("the acceptance reads each type of the template, and there is no other property than those it compares", () => {
  const settings = { ...Object(CONTEXT["eventSync"]), alarmEmail: "team@example.com" };
  const usual = synthesized(settings);
  const stack = new Stack(newApp(), "Stack", { env: { account: "123456789012", region: "eu-west-1" } });
  const vpc = Vpc.fromVpcAttributes(stack, "Vpc", {
    vpcId: "vpc-1",
    availabilityZones: ["eu-west-1a"],
    privateSubnetIds: ["subnet-1"],
  });
  const all = new EventSync(stack, "Default", {
    settings: { ...settings, authUrl: "https://login.example.com", reservedConcurrency: 5 },
    vpc,
    securityGroups: [SecurityGroup.fromSecurityGroupId(stack, "Group", "sg-1")],
    permissionsBoundary: ManagedPolicy.fromManagedPolicyName(stack, "Boundary", "boundary"),
    encryptionKey: Key.fromKeyArn(stack, "Key", "arn:aws:kms:eu-west-1:123456789012:key/1"),
  });
  const most = templateOf(Stack.of(all));

  const more = [...most.types].map(
    (type) => [type, [...propertiesOf(most, type).difference(propertiesOf(usual, type))].toSorted()] as const,
  );

  expect(Object.fromEntries(more.filter(([, names]) => names.length > 0))).toEqual(IN_SOME);
  expect([...usual.types.union(most.types)].filter((type) => !KIND_OF.has(type))).toEqual([]);
});

const account = { schedule: "rate(1 day)" };
const template = synthesized({
  baseUrl: "https://api.example.com",
  authUrl: "https://login.example.com",
  alarmEmail: "data-team@example.com",
  accounts: { uk: account, "a-b": account, a_b: account },
});

it("each resource that holds data, or that a deployment had before EventSync was a construct, keeps its logical id and type", () => {
  const known = z.record(z.string(), z.string()).parse(json("./logical-ids.json"));

  const found = [...template.types].flatMap((type) => template.all(type).map(({ name }) => [name, type]));

  expect(Object.fromEntries(found)).toMatchObject(known);
});

it("each account's secret keeps its logical id, however similar the names are", () => {
  const credentials = template
    .all("AWS::SecretsManager::Secret")
    .filter(({ name }) => name.startsWith("Credentials"));

  expect(credentials.map(({ name, properties }) => [properties["Description"], name])).toEqual([
    ["Credentials of the account uk at the Brand Metrics Service, as JSON", "CredentialsukB01BFE4E"],
    ["Credentials of the account a-b at the Brand Metrics Service, as JSON", "CredentialsabD9F5DCF9"],
    ["Credentials of the account a_b at the Brand Metrics Service, as JSON", "Credentialsab776EDA35"],
  ]);
});
