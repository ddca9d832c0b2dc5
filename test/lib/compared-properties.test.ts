// What a change of the template must not change unnoticed: the logical ids, and what the acceptance holds against it.

import { expect, it, test } from "vitest";
import { z } from "zod";
import { KINDS } from "../acceptance/as-stated.ts";
import { CONTEXT, json, synthesized } from "./synthesized.ts";

/** What the rows do not look at, and why that is no silent defect. */
const NOT_COMPARED: Readonly<Record<string, readonly string[]>> = {
  // They name the resource, or describe it to people.
  "AWS::Athena::NamedQuery": ["Description"],
  "AWS::Athena::WorkGroup": ["Description", "Name", "RecursiveDeleteOption", "Tags"],
  "AWS::CloudWatch::Alarm": ["AlarmName", "Tags"],
  "AWS::Events::Rule": ["Description", "Tags"],
  "AWS::Glue::Database": ["CatalogId", "DatabaseInput"],
  "AWS::Glue::Table": ["CatalogId", "DatabaseName"],
  "AWS::IAM::ManagedPolicy": ["Description", "Path"],
  "AWS::IAM::Policy": ["PolicyName", "Roles"],
  "AWS::IAM::Role": ["Description", "Tags"],
  "AWS::Lambda::Alias": ["FunctionName"],
  "AWS::Lambda::EventInvokeConfig": ["FunctionName", "Qualifier"],
  "AWS::Lambda::Permission": ["FunctionName"],
  "AWS::Lambda::Version": ["FunctionName"],
  "AWS::Logs::LogGroup": ["Tags"],
  "AWS::Logs::MetricFilter": ["LogGroupName"],
  "AWS::SNS::Topic": ["DisplayName", "Tags"],
  "AWS::Scheduler::Schedule": ["Description", "GroupName"],
  "AWS::Scheduler::ScheduleGroup": ["Name", "Tags"],
  "AWS::SecretsManager::Secret": ["Description", "Tags"],
  // A version is never changed, and the alias is held against it.
  "AWS::Lambda::Function": ["Architectures", "Code", "Description", "LoggingConfig", "Tags"],
  // The row "bucket" reads what expires.
  "AWS::S3::Bucket": ["LifecycleConfiguration", "OwnershipControls", "Tags"],
  // The row "subscriptions" reads them.
  "AWS::SNS::Subscription": ["Endpoint", "Protocol", "TopicArn"],
  "AWS::StepFunctions::StateMachine": [
    "EncryptionConfiguration",
    "LoggingConfiguration",
    "StateMachineName",
    "Tags",
    "TracingConfiguration",
  ],
  // Policies of resources: writes, mails and failed starts show them (docs/aws.md, "The first hour in AWS").
  "AWS::KMS::Key": ["Description", "EnableKeyRotation", "KeyPolicy", "Tags"],
  "AWS::S3::BucketPolicy": ["Bucket", "PolicyDocument"],
  "AWS::SNS::TopicPolicy": ["PolicyDocument", "Topics"],
  "AWS::SQS::Queue": ["MessageRetentionPeriod", "SqsManagedSseEnabled", "Tags"],
  "AWS::SQS::QueuePolicy": ["PolicyDocument", "Queues"],
  // Shown to people only.
  "AWS::CloudWatch::Dashboard": ["DashboardBody", "DashboardName", "Tags"],
  "AWS::Logs::QueryDefinition": ["LogGroupNames", "Name", "QueryString"],
};

test("the acceptance compares every property of the template but these, and there is no other type of resource", () => {
  const settings = { ...Object(CONTEXT["eventSync"]), alarmEmail: "team@example.com" };
  const { all, types } = synthesized(settings);
  const compared = new Map(
    Object.values(KINDS)
      .flat()
      .map(({ type, properties }) => [type, new Set(properties.split(" "))]),
  );

  const open = [...types].map((type) => {
    const stated = new Set(all(type).flatMap(({ properties }) => Object.keys(properties)));
    return [type, [...stated.difference(compared.get(type) ?? new Set())].sort()];
  });

  expect(Object.fromEntries(open)).toEqual(NOT_COMPARED);
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
