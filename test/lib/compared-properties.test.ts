// Whether the acceptance notices a change: it holds what is deployed against the template.

import { expect, test } from "vitest";
import { KINDS } from "../acceptance/as-stated.ts";
import { CONTEXT, synthesized } from "./synthesized.ts";

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
